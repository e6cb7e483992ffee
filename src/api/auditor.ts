import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { clientAddress } from '../access/client-address.ts'
import { type CredentialHeader, headerOf } from '../access/credential-headers.ts'
import type { AnyCaller } from '../access/credentials.ts'
import { apiKeyHeader } from '../access/key-credentials.ts'
import { workspaceIdHeader } from '../access/workspace-credentials.ts'
import type { AuditPlace } from '../audit/keys.ts'
import type { AuditLog, Begun, Ending } from '../audit/log.ts'
import { success } from '../audit/record.ts'
import type { Claim, Door, Refusals } from '../audit/refusals.ts'
import type { Config } from '../config.ts'
import { ApiError } from '../errors.ts'
import { concernedIds } from './concerned-ids.ts'
import { answerable } from './envelope.ts'
import type { GivenAnswer } from './idempotency/calls.ts'
import type { Operation } from './operation.ts'

export interface AuditorOptions {
  readonly audit: AuditLog
  readonly refusals: Refusals
  readonly mode: Config['audit']
  /** Reverse proxies whose `X-Forwarded-For` is believed. */
  readonly proxies: number
}

/** A call that is about to be carried out. */
export interface AuditedCall {
  readonly operation: Operation
  readonly caller: AnyCaller
  /** Has passed the schema. */
  readonly data: unknown
  readonly request: IncomingMessage
  readonly requestId: string
}

/** Statuses of answers to those who could not show who they are. */
const refusing: readonly string[] = ['INVALID_ARGUMENT', 'UNAUTHENTICATED', 'PERMISSION_DENIED']
/** Of the hash of an idempotency key, in hex. */
const hashLength = 32

/** Has calls recorded in the audit log. */
export class Auditor {
  readonly #options: AuditorOptions

  constructor(options: AuditorOptions) {
    this.#options = options
  }

  /**
   * Carries out a call; when it has ended its record is durable, if it is one to be recorded.
   * @throws what `work` throws; StoreUnavailable where the record may be lost: then nobody is told what came of it, and
   *   nothing is done if it is known before
   */
  async run(call: AuditedCall, work: () => Promise<GivenAnswer>): Promise<GivenAnswer> {
    const { operation, caller, data, request, requestId } = call
    if (!this.#isRecorded(operation)) return work()
    const begun = this.#options.audit.begin(placeOf(caller), {
      operation: operation.path,
      actor: caller.level,
      apiKey: caller.level === 'key' ? caller.tenant.apiKey : null,
      clientAddress: this.#addressOf(request),
      requestId,
      ...concernedIds(operation.request, data),
      idempotencyKeyHash: idempotencyKeyHash(request),
    })
    return this.#carryOut(begun, work, (answer) => endingOf(operation, answer))
  }

  /** As `run`, for a page that hands something out to the operator. The record is durable before `work` begins. */
  async runPage(path: string, request: IncomingMessage, requestId: string, work: () => Promise<void>) {
    if (this.#options.mode === 'off') return work()
    const clientAddress = this.#addressOf(request)
    const entry = { operation: path, actor: 'operator', clientAddress, requestId } as const
    const begun = this.#options.audit.begin(null, entry)
    await begun.stored
    return this.#carryOut(begun, work, () => ({ outcome: success }))
  }

  /** Counts a call whose credentials were refused with `error`, if that is what it says. */
  refused(door: Door, error: unknown, request: IncomingMessage): void {
    if (!(error instanceof ApiError) || !refusing.includes(error.status)) return
    this.note(door, error.status, request)
  }

  /** Counts a refusal. */
  note(door: Door, outcome: string, request: IncomingMessage): void {
    if (this.#options.mode === 'off') return
    const clientAddress = this.#addressOf(request)
    this.#options.refusals.note({ door, outcome, clientAddress, claim: claimOf(door, request) })
  }

  async #carryOut<T>(begun: Begun, work: () => Promise<T>, ending: (done: T) => Ending): Promise<T> {
    // From the next turn on the engine writes nothing before the record.
    await Promise.race([nextTurn(), begun.stored])
    let done: T
    try {
      done = await work()
    } catch (error) {
      begun.end({ outcome: answerable(error)?.status ?? 'INTERNAL' })
      await begun.stored
      throw error
    }
    begun.end(ending(done))
    await begun.stored
    return done
  }

  #isRecorded({ audited }: Operation): boolean {
    const { mode } = this.#options
    if (mode === 'off') return false
    return audited === 'admin' || (audited === 'change' && mode === 'all')
  }

  #addressOf(request: IncomingMessage): string {
    return clientAddress(request, this.#options.proxies).slice(0, addressLengthMax)
  }
}

/** A proxy may pass on anything. */
const addressLengthMax = 64

/** What the operator does is nobody's but the operator's. */
function placeOf(caller: AnyCaller): AuditPlace {
  if (caller.level === 'operator') return null
  return caller.level === 'key' ? caller.tenant.workspaceId : caller.workspaceId
}

/** Headers that say who a caller claims to be. */
const claims: { readonly [D in Door]?: { readonly is: Claim['is']; readonly header: CredentialHeader } } = {
  key: { is: 'apiKey', header: apiKeyHeader },
  workspace: { is: 'workspaceId', header: workspaceIdHeader },
}

function claimOf(door: Door, { headers }: IncomingMessage): Claim | null {
  const claim = claims[door]
  const id = claim === undefined ? null : headerOf(headers, claim.header)
  return claim === undefined || id === null ? null : { is: claim.is, id }
}

function idempotencyKeyHash({ headers }: IncomingMessage): string | null {
  const key = headers['idempotency-key']
  if (typeof key !== 'string' || key === '') return null
  return createHash('sha256').update(key).digest('hex').slice(0, hashLength)
}

/** What is kept of an answer: whether it is a success, and the ids that were made. */
function endingOf({ makes = [] }: Operation, { httpCode, text, replayed }: GivenAnswer): Ending {
  if (httpCode !== 200) {
    const { error } = JSON.parse(text) as { readonly error: { readonly status: string } }
    return { outcome: error.status, replayed }
  }
  if (makes.length === 0) return { outcome: success, replayed }
  const { result } = JSON.parse(text) as { readonly result: { readonly data: object } }
  const found = Object.entries(result.data).filter(([name]) => makes.includes(name))
  return {
    outcome: success,
    replayed,
    made: Object.fromEntries(found.map(([name, id]) => [name, [String(id)]])),
  }
}
