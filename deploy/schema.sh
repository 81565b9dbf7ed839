#!/bin/sh
# Makes Temporal's two databases, or brings them to this release's schema. Harmless when there is nothing to do.
# The tool reads where and who (SQL_PLUGIN, SQL_HOST, SQL_PORT, SQL_USER, SQL_PASSWORD) itself.
set -eu

prepare() {
    temporal-sql-tool --database "$1" create-database
    temporal-sql-tool --database "$1" setup-schema --version 0.0
    temporal-sql-tool --database "$1" update-schema --schema-dir "/etc/temporal/schema/postgresql/v12/$2/versioned"
}

prepare temporal temporal
prepare temporal_visibility visibility
