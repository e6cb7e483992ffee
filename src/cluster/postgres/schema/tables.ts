import { bucketCount } from '../../../core/store/buckets.ts'

/**
 * Number of partitions of each growing table. The hash of its key assigns a row to a partition. PostgreSQL
 * can vacuum and cache each partition separately.
 */
export const partitionsDefault = 16

/**
 * Percentage of each page that inserts fill, in the table of heads. PostgreSQL stores the new version of a
 * changed row in the remaining space of the same page, so that no index changes.
 */
const headFillFactor = 70

/** The partitioned tables and their partition keys. */
const partitioned = [
  { table: 'document', by: 'key', with: `(fillfactor = ${headFillFactor})` },
  { table: 'entry', by: 'doc', with: null },
  { table: 'snapshot', by: 'doc', with: null },
  { table: 'kv', by: 'part', with: null },
] as const

/**
 * Statements that create the tables of format 1.0. Keys and texts are stored as bytes, because a text in
 * PostgreSQL cannot contain the zero character and is sorted by its own rules. Times are epoch milliseconds
 * by the clock of the engine. Entries are ordered by their sequence numbers, which are assigned with the head
 * row.
 */
const tables = `
create table document (
  key bytea primary key, id uuid not null, epoch bigint not null, state text not null, head bigint not null,
  marks text not null, changed_at bigint not null, changed_by bytea not null
) partition by hash (key);
create table entry (
  doc uuid, epoch bigint, seq bigint, at bigint not null, by bytea not null, crc bigint not null, bytes bytea not null,
  primary key (doc, epoch, seq)
) partition by hash (doc);
create table snapshot (
  doc uuid, epoch bigint, seq bigint, crc bigint not null, bytes bytea not null,
  primary key (doc, epoch, seq)
) partition by hash (doc);
create table kv (
  part bytea, key bytea, value bytea not null,
  primary key (part, key)
) partition by hash (part);
create table job (
  queue bytea, id bytea, due bigint not null, attempt int not null, lease text not null, payload bytea not null,
  error bytea not null, next_due bigint, next_payload bytea,
  primary key (queue, id)
);
create index job_due on job (queue, due, id);
create table buried (
  queue bytea, id bytea, at bigint not null, payload bytea not null, error bytea not null,
  primary key (queue, id)
);
create table blob (key bytea primary key, crc bigint not null, bytes bytea not null);
alter table entry alter column bytes set storage external;
alter table snapshot alter column bytes set storage external;
alter table blob alter column bytes set storage external;
`

/** Returns all statements that create the tables of format 1.0. */
export function baseTables(partitions: number): string {
  const parts = partitioned.flatMap(({ table, with: storage }) =>
    Array.from({ length: partitions }, (_, index) => {
      const values = `for values with (modulus ${partitions}, remainder ${index})`
      return `create table ${table}_${index} partition of ${table} ${values} ${storage === null ? '' : `with ${storage}`};`
    }),
  )
  return `${tables}${parts.join('\n')}`
}

/**
 * Statements that create the table of terms, one row for each bucket of documents. `holder` is the incarnation of the
 * process that holds the bucket. Servers of format 1 append without a term. Therefore the statements fail while one of
 * them is alive, and such a server can never get its lease again, without which it does not write.
 */
export const termTables = `
do $$ begin
  if exists (select from lease where name = 'node' and until > clock_timestamp()) then
    raise 'a server of an older version uses the schema; stop all servers first';
  end if;
end $$;
insert into lease values ('node', 'format 2', 'infinity')
on conflict (name) do update set holder = excluded.holder, until = excluded.until;
delete from node;
alter table node add column url text;
create table term (bucket int primary key, term bigint not null, holder text);
insert into term select bucket, 0, null from generate_series(0, ${bucketCount - 1}) as bucket;
`

/**
 * Statements that create the table of the cluster nodes. `heard_at` is the time of the last heartbeat by the
 * clock of the database.
 */
export const clusterTables = `
create table node (
  id text primary key, incarnation text not null, state text not null, heard_at timestamptz not null
);
`
