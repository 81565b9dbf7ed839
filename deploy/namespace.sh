#!/bin/sh
# Makes the namespace and the search attributes that amends shows runs by. Harmless when they are there.
# The command reads TEMPORAL_ADDRESS itself; its operator commands do not read TEMPORAL_NAMESPACE.
set -eu

# The server takes a moment to become healthy, and a new namespace takes a moment to be known to all of it.
patiently() {
    tries=60
    until "$@"; do
        tries=$((tries - 1))
        if [ "$tries" -eq 0 ]; then
            echo "Gave up on the server at $TEMPORAL_ADDRESS: $*" >&2
            exit 1
        fi
        sleep 1
    done
}

patiently temporal operator cluster health
temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
    temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention 90d
for name in AmendsState AmendsAgent AmendsUser; do
    patiently temporal operator search-attribute create --namespace "$TEMPORAL_NAMESPACE" --name "$name" --type Keyword
done
