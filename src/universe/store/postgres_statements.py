"""What is asked of PostgreSQL. Each change is one statement, and so one round trip and one transaction."""

from typing import Final

CHANNEL: Final = "SELECT 'universes_' || 'universes'::regclass::oid"
"""The name under which changes are told: not the same for the tables of another schema."""

PING: Final = "SELECT current_setting('transaction_read_only') = 'on', (SELECT 1 FROM universes LIMIT 1)"

CREATE: Final = """
    WITH made AS (
      INSERT INTO universes (id, name, version, created_at, updated_at) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT DO NOTHING RETURNING id, version, serial
    ), logged AS (
      INSERT INTO universe_log SELECT made.id, entry.* FROM made,
      unnest($6::bigint[], $7::text[], $8::bytea[], $9::bytea[], $10::text[], $11::bytea[], $12::text[]) AS entry
    )
    SELECT pg_notify('universes_' || 'universes'::regclass::oid, concat_ws(' ', version, serial, id)) FROM made
"""

RENAME: Final = """
    WITH named AS (UPDATE universes SET name = $2, updated_at = $3 WHERE id = $1 RETURNING id, version, serial)
    SELECT pg_notify('universes_' || 'universes'::regclass::oid, concat_ws(' ', version, serial, id)) FROM named
"""

DELETE: Final = """
    WITH gone AS (DELETE FROM universes WHERE id = $1 RETURNING id, serial)
    SELECT pg_notify('universes_' || 'universes'::regclass::oid, concat_ws(' ', '-', serial, id)) FROM gone
"""

APPEND: Final = """
    WITH moved AS (
      UPDATE universes SET version = $3, updated_at = $4
      WHERE id = $1 AND version = $2 AND created_at = coalesce($16, created_at)
      RETURNING id, version, serial, created_at
    ), logged AS (
      INSERT INTO universe_log SELECT moved.id, entry.* FROM moved,
      unnest($5::bigint[], $6::text[], $7::bytea[], $8::bytea[], $9::text[], $10::bytea[], $11::text[]) AS entry
    ), used AS (
      INSERT INTO universe_keys SELECT moved.id, use.* FROM moved,
      unnest($12::bytea[], $13::bytea[], $14::bigint[], $15::bigint[]) AS use
      ON CONFLICT (universe_id, key_digest)
      DO UPDATE SET request = excluded.request, first = excluded.first, last = excluded.last
    )
    SELECT created_at, pg_notify('universes_' || 'universes'::regclass::oid, concat_ws(' ', version, serial, id))
    FROM moved
"""

PUT_SNAPSHOT: Final = """
    WITH there AS (
      SELECT id FROM universes WHERE id = $1 AND created_at = coalesce($6, created_at) FOR KEY SHARE
    ), put AS (
      INSERT INTO universe_snapshots SELECT id, $2::bigint, $3::bytea, $4::bytea FROM there
      ON CONFLICT (universe_id, version) DO UPDATE SET state = excluded.state, digest = excluded.digest
    )
    DELETE FROM universe_snapshots WHERE universe_id = $1 AND cardinality($5::bigint[]) > 0 AND version <> ALL ($5)
"""

RECORD: Final = "SELECT id, name, version, created_at, updated_at FROM universes WHERE id = $1"

RECORDS: Final = """
    SELECT id, name, version, created_at, updated_at FROM universes ORDER BY created_at DESC, id DESC LIMIT $1
"""

RECORDS_BEFORE: Final = """
    SELECT id, name, version, created_at, updated_at FROM universes WHERE (created_at, id) < ($2, $3)
    ORDER BY created_at DESC, id DESC LIMIT $1
"""

HEADS: Final = """
    SELECT id, created_at, universes.version, coalesce(digest, '') FROM universes
    LEFT JOIN universe_log ON universe_id = id AND universe_log.version = universes.version
"""

VERSIONS: Final = "SELECT id, version, serial FROM universes"

ENTRIES: Final = """
    SELECT version, kind, body, events, at, digest, author FROM universe_log WHERE universe_id = $1 AND version IN (
      SELECT version FROM (
        SELECT version, octet_length(body) AS size, sum(octet_length(body)) OVER (ORDER BY version) AS total
        FROM universe_log WHERE universe_id = $1 AND version > $2 AND version <= $3 ORDER BY version LIMIT $4
      ) AS sizes WHERE total - size < $5
    ) ORDER BY version
"""

KEY: Final = "SELECT request, first, last FROM universe_keys WHERE universe_id = $1 AND key_digest = $2"

SNAPSHOT: Final = """
    SELECT version, state, digest FROM universe_snapshots WHERE universe_id = $1 AND version <= $2
    ORDER BY version DESC LIMIT 1
"""

SNAPSHOT_VERSIONS: Final = "SELECT version FROM universe_snapshots WHERE universe_id = $1 ORDER BY version"
