"""A turn to a plan, without any model: unique exact cover over a closed lexicon, pure at read time."""
