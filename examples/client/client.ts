import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { components, paths } from './schema.d.ts'

export type Path = keyof paths
type Json = 'application/json'
/** The `data` of a request. */
export type RequestOf<P extends Path> = paths[P]['post']['requestBody']['content'][Json]['data']
/** The `result` of a response: `data`, and `pageToken` if a list continues. */
export type ResultOf<P extends Path> = paths[P]['post']['responses'][200]['content'][Json]['result']
type Data<P extends Path> = ResultOf<P> extends { data: infer D } ? D : ResultOf<P>
type Failure = components['schemas']['Error']['error']

/** The error of a rejected call. */
export class WeftError extends Error {
  readonly status: Failure['status']
  readonly details: Failure['details']

  constructor(path: string, { status, message, details }: Failure) {
    super(`${path}: ${status}: ${message}`)
    this.status = status
    this.details = details
  }
}

export interface Options {
  readonly url: string
  /** Headers: `x-service-api-key` and `x-service-auth-token`, or those of the workspace or the operator. */
  readonly credentials: Readonly<Record<string, string>>
  /** Maximum number of attempts. */
  readonly tries?: number
  /** Waits for this number of milliseconds. */
  readonly wait?: (milliseconds: number) => Promise<unknown>
}

export class Weft {
  readonly #options: Required<Options>

  constructor(options: Options) {
    this.#options = { tries: 5, wait: sleep, ...options }
  }

  /**
   * Returns `data` of the response.
   * @throws WeftError
   */
  async call<P extends Path>(path: P, data: RequestOf<P>): Promise<Data<P>> {
    const result = await this.ask(path, data)
    return (typeof result === 'object' && 'data' in result ? result.data : result) as Data<P>
  }

  /**
   * Returns the whole `result`. All attempts have one `idempotency-key`, so that a retry does nothing twice.
   */
  async ask<P extends Path>(path: P, data: RequestOf<P>): Promise<ResultOf<P>> {
    const { url, credentials, tries, wait } = this.#options
    const headers = { ...credentials, 'content-type': 'application/json', 'idempotency-key': randomUUID() }
    const call = { method: 'POST', headers, body: JSON.stringify({ data }) }
    for (let made = 1; ; made++) {
      const { result, problem, againMs } = await attempt(path, new Request(url + path, call))
      if (problem === undefined) return result as ResultOf<P>
      if (againMs === undefined || made >= tries) throw problem
      await wait(againMs || 100 * 2 ** made)
    }
  }
}

/**
 * `againMs` is the time after which a retry is possible; 0 if the server names none, undefined if it is not
 * possible.
 */
type Outcome = { readonly result?: unknown; readonly problem?: Error; readonly againMs?: number }

/**
 * Retries are possible after a lost response, after a rate limit with a time, and while the server is
 * stopping.
 */
async function attempt(path: string, request: Request): Promise<Outcome> {
  try {
    const response = await fetch(request)
    const { result, error } = (await response.json()) as { result?: unknown; error?: Failure }
    if (error === undefined) return { result }
    const after = response.headers.get('retry-after')
    const problem = new WeftError(path, error)
    const isPassing = error.status === 'UNAVAILABLE' || (response.status === 429 && after !== null)
    return isPassing ? { problem, againMs: Number(after) * 1000 } : { problem }
  } catch (error) {
    return { problem: new Error(`${path}: no valid response`, { cause: error }), againMs: 0 }
  }
}
