import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { components, paths } from './schema.d.ts'

export type Path = keyof paths
type Json = 'application/json'
/** What an operation takes as `data`. */
export type RequestOf<P extends Path> = paths[P]['post']['requestBody']['content'][Json]['data']
/** What it answers as `result`: `data`, and where a listing goes on `pageToken`. */
export type ResultOf<P extends Path> = paths[P]['post']['responses'][200]['content'][Json]['result']
type Data<P extends Path> = ResultOf<P> extends { data: infer D } ? D : ResultOf<P>
type Failure = components['schemas']['Error']['error']

/** What Weft refuses a call with. */
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
  /** How often a call is made, at most. */
  readonly tries?: number
  /** Waits so many milliseconds. */
  readonly wait?: (milliseconds: number) => Promise<unknown>
}

export class Weft {
  readonly #options: Required<Options>

  constructor(options: Options) {
    this.#options = { tries: 5, wait: sleep, ...options }
  }

  /** `data` of the answer. @throws WeftError */
  async call<P extends Path>(path: P, data: RequestOf<P>): Promise<Data<P>> {
    const result = await this.ask(path, data)
    return (typeof result === 'object' && 'data' in result ? result.data : result) as Data<P>
  }

  /** All of `result`. One `idempotency-key` goes with all tries, so that what is tried again is not done twice. */
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

/** When it may be tried again, if at all; 0: nobody has said when. */
type Outcome = { readonly result?: unknown; readonly problem?: Error; readonly againMs?: number }

/** Tried again is what never came back, what a limit holds up for a while, and what finds the server stopping. */
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
    return { problem: new Error(`${path}: no answer that can be read`, { cause: error }), againMs: 0 }
  }
}
