import { bucketOf } from '../../../src/core/store/buckets.ts'
import { decodeKey } from '../../../src/core/store/key-encoding.ts'
import type { PostgresCluster } from '../../support/servers/postgres-cluster.ts'

/**
 * Triggers that record each new term and each new entry of a log, with the process that has written it. A process is the
 * `application_name` of its connections. An append locks its term before it writes, and so does a process that takes a
 * bucket. Therefore the numbers of the records have the order of the terms and entries. Updates that only delete have no
 * digest, because two users may delete the same character.
 */
const triggers = `
create schema history;
create table history.written (
  n bigserial primary key, writer text not null, bucket int, term bigint, doc uuid, epoch bigint, seq bigint, digest text
);
create function history.term() returns trigger language plpgsql as $$ begin
  insert into history.written (writer, bucket, term)
  select current_setting('application_name'), now.bucket, now.term
  from now join before on before.bucket = now.bucket and before.term <> now.term;
  return null;
end $$;
create function history.entry() returns trigger language plpgsql as $$ begin
  insert into history.written (writer, doc, epoch, seq, digest)
  select current_setting('application_name'), doc, epoch, seq, case get_byte(bytes, 0) when 0 then null else md5(bytes) end
  from added;
  return null;
end $$;
begin;
create trigger history after update on weft.term
  referencing old table as before new table as now for each statement execute function history.term();
create trigger history after insert on weft.entry
  referencing new table as added for each statement execute function history.entry();
insert into history.written (writer, bucket, term)
  select node.id, term.bucket, term.term from weft.term join weft.node on node.incarnation = term.holder;
commit;
`

type Written = { readonly n: number; readonly writer: string } & (
  | { readonly bucket: number; readonly term: number; readonly doc: null }
  | {
      readonly bucket: null
      readonly doc: string
      readonly epoch: number
      readonly seq: number
      readonly digest: string | null
    }
)

/** The findings of a part of the history. */
export interface HistoryCheck {
  readonly entries: number
  readonly terms: number
  /** Entries that a process wrote which did not have the term, and entries that are stored twice. */
  readonly problems: readonly string[]
}

/** The order in which the processes of a cluster have written, as the store has recorded it. */
export class TermHistory {
  readonly #postgres: PostgresCluster
  readonly #terms = new Map<number, { readonly term: number; readonly writer: string }>()
  /** The entries of each log by their digests. */
  readonly #digests = new Map<string, number>()
  #last = 0

  private constructor(postgres: PostgresCluster) {
    this.#postgres = postgres
  }

  /** Begins to record. The name of the connections of each process must be the name of its node. */
  static async begin(postgres: PostgresCluster): Promise<TermHistory> {
    await postgres.sql(triggers)
    return new TermHistory(postgres)
  }

  /** Checks what was written since the last check: no two terms interleave in a log, and nothing is written twice. */
  async check(): Promise<HistoryCheck> {
    const documents = await this.#postgres.sql('select id, key from weft.document')
    const keys = new Map(documents.map(({ id, key }) => [id, decodeKey(key as Uint8Array)]))
    const rows = (await this.#postgres.sql(
      `select n::int, writer, bucket, term::int, doc, epoch::int, seq::int, digest
       from history.written where n > ${this.#last} order by n`,
    )) as unknown as readonly Written[]
    const problems: string[] = []
    let terms = 0
    for (const row of rows) {
      this.#last = row.n
      if (row.doc === null) {
        const { term: before = 0 } = this.#terms.get(row.bucket) ?? {}
        if (row.term <= before)
          problems.push(`term ${row.term} of bucket ${row.bucket} follows term ${before}`)
        this.#terms.set(row.bucket, row)
        terms += 1
      } else {
        const { doc, epoch, seq, digest, writer } = row
        const key = keys.get(doc) ?? []
        const owner = this.#terms.get(bucketOf(key))?.writer
        const entry = `entry ${seq} of ${key.join('/')}, written by ${writer},`
        if (owner !== writer) problems.push(`${entry} is in a term of ${owner}`)
        if (digest === null) continue
        const place = `${doc} ${epoch} ${digest}`
        const other = this.#digests.get(place)
        if (other !== undefined) problems.push(`${entry} is equal to entry ${other}`)
        this.#digests.set(place, seq)
      }
    }
    return { entries: rows.length - terms, terms, problems }
  }
}
