import type { RequestListener } from 'node:http'
import type { ErrorCode } from '../../core/base/error-codes.ts'
import { ApiError } from '../../core/base/errors.ts'
import { readJson } from '../../core/base/json.ts'
import type { FromSchema, Schema } from '../../core/base/schema.ts'
import * as s from '../../core/base/schema.ts'
import { callInProcess, type InProcessClient } from '../../rest/http/in-process-call.ts'
import type { TypedOperation } from '../../rest/operation.ts'

interface AgentApiOptions {
  /** Answers requests to REST. */
  readonly handle: RequestListener
  readonly token: string
  readonly client: InProcessClient
  /** Aborted when the tool call is canceled, or takes too long. */
  readonly signal: AbortSignal
}

/** The result of a call. */
interface AgentResult<Data> {
  readonly data: Data
  readonly warnings: readonly string[]
  /** Token of the next page of a listing; null on the last page. */
  readonly pageToken: string | null
}

const errorSchema = s.object({
  message: s.string,
  details: s.object({ code: s.trusted<ErrorCode>(s.string) }),
})
const resultSchema = s.object({}, { data: s.unknown, pageToken: s.string, warnings: s.array(s.string) })
const bodySchema = s.object({ result: resultSchema })
const failedSchema = s.object({ error: errorSchema })

/**
 * Calls operations of REST with the token of an agent. The calls take the same way as those of a client, so
 * validation, roles, quotas and audit apply to them.
 */
export class AgentApi {
  readonly #options: AgentApiOptions

  constructor(options: AgentApiOptions) {
    this.#options = options
  }

  /** Returns the same calls, which continue when the tool call is canceled. */
  continuing(): AgentApi {
    return new AgentApi({ ...this.#options, signal: new AbortController().signal })
  }

  /** Calls an operation. @throws the errors of `read` */
  async call<Response extends Schema | null>(
    { path }: TypedOperation<Response>,
    data: object,
  ): Promise<AgentResult<FromSchema<Response>>> {
    const { result } = readJson(bodySchema, await this.read(path, data))
    return {
      data: result.data as FromSchema<Response>,
      warnings: result.warnings ?? [],
      pageToken: result.pageToken ?? null,
    }
  }

  /**
   * Calls an operation. Returns its response (JSON in UTF-8), which may be too large to parse it on the event loop.
   * @param data members that are undefined are not sent
   * @throws ApiError for the error of the operation; the reason of the signal if it is aborted. The server
   * finishes the operation anyway
   */
  async read(path: string, data: object): Promise<Uint8Array> {
    const { handle, token, client, signal } = this.#options
    signal.throwIfAborted()
    const headers = { authorization: `Bearer ${token}` }
    const answer = await withSignal(signal, callInProcess(handle, path, headers, data, client))
    if (answer.status < 400) return answer.body
    const { error } = readJson(failedSchema, answer.body)
    const { code, ...details } = error.details
    throw new ApiError(code, error.message, {
      details,
      ...(answer.retryAfterSeconds !== undefined && { retryAfterSeconds: answer.retryAfterSeconds }),
    })
  }
}

/** Ends the wait for a promise when the signal is aborted. */
function withSignal<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
