import type { WeftApi } from '../api/operation-types.ts'
import type { MembersOf, ReadersByName } from './endpoint-body.ts'
import type { CheckedUser, EndpointDocument } from './endpoint-user.ts'

/** Maximum milliseconds of a call with its retries. */
export const callOptions = { timeoutMs: 20_000 }

/** A request about a document, whose user is authorized. */
export interface EndpointCall {
  readonly api: WeftApi
  readonly document: EndpointDocument
  readonly user: CheckedUser
  readonly onError: (error: unknown) => void
}

/** Members of a successful response. */
export interface EndpointAnswer {
  readonly message: string
  readonly data: object | null
  readonly pageToken?: string | undefined
}

/** A path of the endpoint. */
export interface EndpointOperation {
  /** Readers of its members in addition to those of the document. */
  readonly readers: ReadersByName
  /** Whether the user must be permitted to write comments. */
  readonly writesComments: boolean
  /** @throws RejectedRequest, or WeftError for a fault */
  run(call: EndpointCall, members: object): Promise<EndpointAnswer>
}

/** Returns an operation that writes no comment. */
export const openOperation = <Readers extends ReadersByName>(
  readers: Readers,
  run: (call: EndpointCall, members: MembersOf<Readers>) => Promise<EndpointAnswer>,
): EndpointOperation => ({
  readers,
  writesComments: false,
  run: (call, members) => run(call, members as MembersOf<Readers>),
})

/** Returns 64 hexadecimal digits. */
export async function digestOf(parts: readonly string[]): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(parts))
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
