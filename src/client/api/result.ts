import type { ClientErrorCode, WeftErrorCode, WeftStatus } from './codes.ts'

/** Details of a failed call. Further members depend on the code; the list of errors describes them. */
export interface FailureDetails {
  /** Members of the request that are not valid or not known. */
  readonly issues?: readonly {
    /** JSON pointer into the body, such as `/data/editorId`. */
    readonly path: string
    readonly message: string
  }[]
  readonly [name: string]: unknown
}

/** The error of a failed call. */
export interface WeftFailure<Code extends string = WeftErrorCode | ClientErrorCode> {
  /** Stable name of the cause. Compare this, not the message. */
  readonly code: Code
  readonly status: WeftStatus
  /** Sentence for people. It can change in any version. */
  readonly message: string
  readonly details?: FailureDetails
  /** Seconds to wait before the next try, if the server names them. */
  readonly retryAfterSeconds?: number
  /** Value of `x-request-id`, which names the request in the log of the server. */
  readonly requestId?: string
}

/** Ids of what a call has created, and the name of a root. What existed is absent. */
export interface CreatedResources {
  readonly organization?: string
  readonly document?: string
  readonly editor?: string
  readonly root?: string
  readonly organizations?: readonly string[]
  readonly documents?: readonly string[]
  readonly folders?: readonly string[]
}

/** The result of a successful call. */
export interface SucceededCall<Data> {
  readonly ok: true
  readonly data: Data
  /** Sentence for people. It can change in any version. */
  readonly message: string
  /**
   * Parts of the request that were accepted but have no effect, may be lost later or are probably misspelled, one
   * sentence each.
   */
  readonly warnings?: readonly string[]
  /** What the call has created, for calls that can create. */
  readonly created?: CreatedResources
  /** Token of the next page; absent on the last page, and in other operations. */
  readonly nextPage?: string
}

/** The result of a rejected call, or of a call without a response. */
export interface FailedCall<Code extends string = WeftErrorCode | ClientErrorCode> {
  readonly ok: false
  readonly error: WeftFailure<Code>
}

/** The result of a call. `ok` distinguishes the two cases. */
export type Result<Data, Code extends string = WeftErrorCode | ClientErrorCode> =
  | SucceededCall<Data>
  | FailedCall<Code>

/** The error that `dataOf` and the iterators throw. */
export class WeftError extends Error {
  override readonly name = 'WeftError'
  readonly code: WeftFailure['code']
  readonly status: WeftStatus
  readonly details: FailureDetails | undefined
  readonly retryAfterSeconds: number | undefined
  readonly requestId: string | undefined

  constructor(failure: WeftFailure) {
    super(failure.message)
    this.code = failure.code
    this.status = failure.status
    this.details = failure.details
    this.retryAfterSeconds = failure.retryAfterSeconds
    this.requestId = failure.requestId
  }
}

/**
 * Returns the data of a result.
 * @throws WeftError if the call failed
 */
export function dataOf<Data>(result: Result<Data>): Data {
  if (result.ok) return result.data
  throw new WeftError(result.error)
}
