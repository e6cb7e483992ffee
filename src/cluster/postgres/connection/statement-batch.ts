import { type Connection, Query, types } from 'pg'
import { ConnectionLostError } from './postgres-errors.ts'

/** A named SQL statement. Each connection prepares it once. `R` is the type of its rows. */
export interface Statement<R> {
  readonly name: string
  readonly text: string
  /**
   * Maximum time in ms to wait for the answer. After that time, the connection counts as lost. Default: the
   * limit that applies to all statements.
   */
  readonly patienceMs?: number
  /** Has no value at run time. It exists only so that the type contains `R`. */
  readonly row?: R
}

export interface BatchedCall {
  readonly statement: Statement<unknown>
  readonly values: readonly unknown[]
  readonly resolve: (rows: readonly unknown[]) => void
  readonly reject: (error: unknown) => void
}

interface Column {
  readonly name: string
  readonly parse: (text: string) => unknown
}

/** The statements that a connection has prepared, with their columns. */
export class PreparedStatements {
  readonly #columns = new Map<string, readonly Column[]>()
  /** Statements of failed batches. It is unknown whether PostgreSQL has prepared them. */
  readonly #uncertain = new Set<string>()

  /** Sends a statement and its values. Before its first use, also prepares it and requests its columns. */
  send(messages: ProtocolWriter, { statement: { name, text }, values }: BatchedCall): 'new' | 'known' {
    const isNew = name === '' || !this.#columns.has(name)
    if (isNew) {
      if (this.#uncertain.delete(name)) messages.close({ type: 'S', name })
      messages.parse({ name, text })
      messages.describe({ type: 'S', name })
      this.#columns.set(name, [])
    }
    messages.bind({ statement: name, values, valueMapper })
    messages.execute()
    return isNew ? 'new' : 'known'
  }

  describe(name: string, columns: readonly Column[]): void {
    this.#columns.set(name, columns)
  }

  columnsOf(name: string): readonly Column[] {
    return this.#columns.get(name) ?? []
  }

  suspect(name: string): void {
    this.#columns.delete(name)
    this.#uncertain.add(name)
  }
}

const valueMapper = (value: unknown): unknown => (typeof value === 'number' ? String(value) : value)

/** The messages of the protocol, as the library sends them. Its published types are incomplete. */
interface ProtocolWriter {
  readonly stream: Pick<Connection['stream'], 'cork' | 'uncork' | 'destroy'>
  parse(message: { readonly name: string; readonly text: string }): void
  bind(message: {
    readonly statement: string
    readonly values: readonly unknown[]
    readonly valueMapper: (value: unknown) => unknown
  }): void
  describe(message: { readonly type: 'S'; readonly name: string }): void
  close(message: { readonly type: 'S'; readonly name: string }): void
  execute(): void
  sync(): void
}

/**
 * Sends several statements in one write, so PostgreSQL also answers in one write. Unless the statements
 * contain `begin`, they form one transaction, which is committed at the end of the batch. If a statement
 * fails, PostgreSQL skips the statements after it.
 */
export class StatementBatch extends Query {
  readonly #calls: readonly BatchedCall[]
  readonly #prepared: PreparedStatements
  readonly #new: string[] = []
  /** The rows of the statements that have ended. */
  readonly #ended: (readonly unknown[])[] = []
  #rows: unknown[] = []
  /** Maximum time in ms to wait for the answer. Undefined: the limit of the connection applies. */
  readonly query_timeout: number | undefined
  /** The library replaces this function with one that also ends the timeout. */
  callback: (error: unknown) => void

  constructor(calls: readonly BatchedCall[], prepared: PreparedStatements) {
    super('')
    this.#calls = calls
    this.#prepared = prepared
    const limits = calls.flatMap(({ statement: { patienceMs } }) => patienceMs ?? [])
    this.query_timeout = limits.length === 0 ? undefined : Math.min(...limits)
    this.callback = (error) => (error === null ? this.#succeeded() : this.#failed(error))
  }

  override readonly submit = (connection: Connection): void => {
    const messages = connection as unknown as ProtocolWriter
    messages.stream.cork()
    try {
      for (const call of this.#calls)
        if (this.#prepared.send(messages, call) === 'new') this.#new.push(call.statement.name)
      messages.sync()
    } catch (error) {
      // A part of the batch cannot be taken back.
      messages.stream.destroy(error instanceof Error ? error : undefined)
    } finally {
      messages.stream.uncork()
    }
  }

  get #current(): string {
    return this.#calls[this.#ended.length]?.statement.name ?? ''
  }

  handleRowDescription({ fields }: { readonly fields: readonly DescribedColumn[] }): void {
    this.#prepared.describe(this.#current, fields.map(columnOf))
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const row: Record<string, unknown> = {}
    const columns = this.#prepared.columnsOf(this.#current)
    for (let index = 0; index < columns.length; index += 1) {
      const { name, parse } = columns[index] as Column
      const text = fields[index] as string | null
      row[name] = text === null ? null : parse(text)
    }
    this.#rows.push(row)
  }

  handleCommandComplete(): void {
    this.#ended.push(this.#rows)
    this.#rows = []
  }

  handleError(error: unknown): void {
    this.callback(error)
  }

  handleReadyForQuery(): void {
    this.callback(null)
  }

  #succeeded(): void {
    for (const [index, { resolve }] of this.#calls.entries()) resolve(this.#ended[index] ?? [])
  }

  /** Rejects the statement that has failed and those after it. */
  #failed(error: unknown): void {
    for (const name of this.#new) this.#prepared.suspect(name)
    const last = this.#calls.length - 1
    // If all statements have ended, the commit at the end of the batch has failed.
    const failed = Math.min(this.#ended.length, last)
    const cause = this.#ended.length > last ? new ConnectionLostError(error) : error
    for (const [index, { resolve, reject }] of this.#calls.entries())
      if (index < failed) resolve(this.#ended[index] ?? [])
      else reject(cause)
  }
}

interface DescribedColumn {
  readonly name: string
  readonly dataTypeID: number
}

const int8: number = types.builtins.INT8

const columnOf = ({ name, dataTypeID }: DescribedColumn): Column => ({
  name,
  parse: dataTypeID === int8 ? Number : types.getTypeParser(dataTypeID, 'text'),
})
