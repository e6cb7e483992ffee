/** What the directory keeps, as JSON in the engine's Kv. */

export interface WorkspaceRecord {
  readonly id: string
  readonly name: string
  readonly owner: {
    readonly id: string
    readonly email: string
    readonly name: string
    readonly avatar: string
  }
  readonly authToken: string
  /** Epoch milliseconds. */
  readonly createdAt: number
}

export interface ApiKeyRecord {
  readonly id: string
  readonly workspaceId: string
  readonly apiKeyName: string
  readonly type: 'testing' | 'production'
  /** Epoch milliseconds. */
  readonly createdAt: number
}

export interface AuthTokenRecord {
  readonly token: string
  readonly name: string
  readonly domains: readonly string[]
  /** Epoch milliseconds. */
  readonly createdAt: number
}

export const encodeRecord = (record: object): Uint8Array => Buffer.from(JSON.stringify(record))

/** What `encodeRecord` was given; the caller knows the kind by the key. */
export const decodeRecord = (bytes: Uint8Array): unknown => JSON.parse(Buffer.from(bytes).toString())
