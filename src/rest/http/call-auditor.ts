import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { clientAddress } from '../../core/access/client-address.ts'
import {
  type AgentCaller,
  type AnyCaller,
  apiKeyHeader,
  type Caller,
  isInTenant,
  workspaceIdHeader,
} from '../../core/access/credentials/authenticator.ts'
import { type CredentialHeader, readHeader } from '../../core/access/credentials/credential-headers.ts'
import type { Ending, OpenAuditRecord } from '../../core/audit/log.ts'
import type { RequestOwner } from '../../core/audit/recent-requests.ts'
import { type AuditedAgent, type AuditedIds, type AuditScope, success } from '../../core/audit/record.ts'
import type { ClaimedId, EntryPoint } from '../../core/audit/rejections.ts'
import { ApiError } from '../../core/base/errors.ts'
import { checkJson, isJsonObject, readJson } from '../../core/base/json.ts'
import * as s from '../../core/base/schema.ts'
import type { Config } from '../../core/config/config.ts'
import { consoleHeader } from '../../core/model/console-header.ts'
import type { StoredResponse } from '../idempotency/idempotency-service.ts'
import type { Operation } from '../operation.ts'
import type { Services } from '../services.ts'
import { toApiError } from './envelope.ts'
import { toolOf } from './in-process-call.ts'

/** Statuses with which a page of the console learns what an editor or a caller does not have. */
const expectedStatuses: readonly string[] = ['NOT_FOUND', 'FAILED_PRECONDITION', 'PERMISSION_DENIED']

/** Agents cannot keep their rejections out of the list, and no caller can keep out faults of the server. */
const isExpectedByConsole = (caller: Caller | null, { headers }: IncomingMessage, outcome: object): boolean =>
  caller !== null &&
  caller.level !== 'agent' &&
  headers[consoleHeader] !== undefined &&
  'error' in outcome &&
  expectedStatuses.includes(toApiError(outcome.error)?.status ?? '')

/** A call that has not run yet. */
interface AuditedCall {
  readonly operation: Pick<Operation, 'audited' | 'request' | 'makes'> & { readonly path: string }
  readonly caller: AnyCaller
  /** Data that is valid according to the request schema. */
  readonly data: unknown
  readonly request: IncomingMessage
  readonly requestId: string
}

/** Statuses of the errors with which credentials are rejected. */
const refusing: readonly string[] = ['INVALID_ARGUMENT', 'UNAUTHENTICATED', 'NOT_FOUND', 'PERMISSION_DENIED']
/** Number of hex digits of the hash of an idempotency key. */
const hashLength = 32

/** Records calls in the audit log. */
export class CallAuditor {
  readonly #services: Pick<Services, 'auditing' | 'config' | 'recent'>
  /**
   * Called for rejected credentials, with the address of the caller and the code of the error. Must not
   * throw.
   */
  readonly #onRejected: (clientAddress: string, code: string) => void

  constructor(
    services: Pick<Services, 'auditing' | 'config' | 'recent'>,
    onRejected: (clientAddress: string, code: string) => void,
  ) {
    this.#services = services
    this.#onRejected = onRejected
  }

  get #mode(): Config['audit'] {
    return this.#services.config.audit
  }

  /**
   * Runs a call. If the call must be recorded, the audit record is durable when the promise resolves.
   * @throws errors of `work`; StoreUnavailableError if the record may be lost. The caller then does not get
   * the outcome. If the loss is known before the call starts, the call does not run
   */
  async run(call: AuditedCall, work: () => Promise<StoredResponse>): Promise<StoredResponse> {
    const { operation, caller, data, request, requestId } = call
    const tool = toolOf(request)
    if (!this.#isRecorded(operation, caller, tool)) return work()
    const begun = this.#services.auditing.audit.begin(placeOf(caller), {
      operation: operation.path,
      actor: caller.level,
      apiKey: isInTenant(caller) ? caller.tenant.apiKey : null,
      agent: caller.level === 'agent' ? auditedAgent(caller) : null,
      tool,
      clientAddress: this.#addressOf(request),
      requestId,
      ...collectAuditedIds(operation.request, data),
      idempotencyKeyHash: idempotencyKeyHash(request),
    })
    return this.#carryOut(begun, work, (answer) => endingOf(operation, answer))
  }

  /** Records the call of a tool that the token of an agent does not permit. */
  async toolRejected(caller: AgentCaller, tool: string, address: string): Promise<void> {
    if (this.#mode === 'off') return
    const { tenant } = caller
    await this.#services.auditing.audit.add(tenant.workspaceId, [
      {
        operation: '/mcp',
        actor: 'agent',
        apiKey: tenant.apiKey,
        agent: auditedAgent(caller),
        tool,
        clientAddress: address.slice(0, addressLengthMax),
        outcome: 'PERMISSION_DENIED',
      },
    ])
  }

  /**
   * Like `run`, for a page that shows secrets to the operator. The record is durable before `work` starts.
   */
  async runPage(path: string, request: IncomingMessage, requestId: string, work: () => Promise<void>) {
    if (this.#mode === 'off') return work()
    const clientAddress = this.#addressOf(request)
    const entry = { operation: path, actor: 'operator', clientAddress, requestId } as const
    const begun = this.#services.auditing.audit.begin(null, entry)
    await begun.stored
    return this.#carryOut(begun, work, () => ({ outcome: success }))
  }

  /**
   * Adds a call to the list of recent requests.
   * @param caller null if the credentials of the call were rejected
   * @param outcome the response, or the error that the caller gets
   */
  answered(
    path: string,
    { caller, request, requestId }: Pick<AuditedCall, 'request' | 'requestId'> & { caller: Caller | null },
    outcome: StoredResponse | { readonly error: unknown },
  ): void {
    const isRejected = !('httpCode' in outcome && outcome.httpCode === 200)
    if (isRejected && isExpectedByConsole(caller, request, outcome)) return
    const owner = ownerOf(caller, request)
    if (owner === 'none') return
    const clientAddress = this.#addressOf(request)
    const note = { kind: 'rest', target: path, outcome: success, clientAddress, requestId } as const
    // To copy members takes longer than all else here.
    if (!isRejected) this.#services.recent.note(owner, note)
    else this.#services.recent.note(owner, { ...note, ...describeOutcome(outcome) })
  }

  /** Counts a call whose credentials were rejected. Ignores other errors. */
  refused(door: EntryPoint, error: unknown, request: IncomingMessage): void {
    if (!(error instanceof ApiError) || !refusing.includes(error.status)) return
    this.#onRejected(this.#addressOf(request), error.code)
    this.note(door, error.status, request)
  }

  /** Counts a rejected call. */
  note(door: EntryPoint, outcome: string, request: IncomingMessage): void {
    if (this.#mode === 'off') return
    const clientAddress = this.#addressOf(request)
    this.#services.auditing.refusals.note({ door, outcome, clientAddress, claim: claimOf(door, request) })
  }

  async #carryOut<T>(
    begun: OpenAuditRecord,
    work: () => Promise<T>,
    ending: (done: T) => Ending,
  ): Promise<T> {
    // Waits until the next tick, or until the record is durable. The engine writes the record before
    // everything that later ticks write.
    await Promise.race([nextTurn(), begun.stored])
    let done: T
    try {
      done = await work()
    } catch (error) {
      begun.end({ outcome: toApiError(error)?.status ?? 'INTERNAL' })
      await begun.stored
      throw error
    }
    begun.end(ending(done))
    await begun.stored
    return done
  }

  /**
   * All changes of agents are recorded, because no person has decided about each of them. With `all`, so is
   * what tools read.
   */
  #isRecorded({ audited }: AuditedCall['operation'], { level }: AnyCaller, tool: string | null): boolean {
    if (this.#mode === 'off') return false
    if (tool !== null && this.#mode === 'all') return true
    return audited === 'admin' || (audited === 'change' && (this.#mode === 'all' || level === 'agent'))
  }

  #addressOf(request: IncomingMessage): string {
    return clientAddress(request, this.#services.config.trustProxy).slice(0, addressLengthMax)
  }
}

/** Maximum length of a recorded address, because a proxy may send any text. */
const addressLengthMax = 64

/** Returns the workspace of a call; null for actions of the operator, which belong to no tenant. */
function placeOf(caller: AnyCaller): AuditScope {
  if (caller.level === 'operator') return null
  return isInTenant(caller) ? caller.tenant.workspaceId : caller.workspaceId
}

const auditedAgent = ({ identity: { userId: id, agent } }: AgentCaller): AuditedAgent => ({
  id,
  model: agent.model,
  onBehalfOf: agent.onBehalfOf,
})

/** Headers that contain the id of the API key or workspace that a caller claims to have. */
const claims: {
  readonly [D in EntryPoint]?: { readonly is: ClaimedId['is']; readonly header: CredentialHeader }
} = {
  key: { is: 'apiKey', header: apiKeyHeader },
  workspace: { is: 'workspaceId', header: workspaceIdHeader },
}

function claimOf(door: EntryPoint, { headers }: IncomingMessage): ClaimedId | null {
  const claim = claims[door]
  const id = claim === undefined ? null : readHeader(headers, claim.header)
  return claim === undefined || id === null ? null : { is: claim.is, id }
}

function idempotencyKeyHash({ headers }: IncomingMessage): string | null {
  const key = headers['idempotency-key']
  if (typeof key !== 'string' || key === '') return null
  return createHash('sha256').update(key).digest('hex').slice(0, hashLength)
}

/** Returns the audited parts of a response: whether the call succeeded, and the created ids. */
function endingOf(
  { makes = [] }: AuditedCall['operation'],
  { httpCode, body, replayed }: StoredResponse,
): Ending {
  if (httpCode !== 200) {
    const { error } = parsed(errorBodySchema, body)
    return { outcome: error.status, replayed }
  }
  if (makes.length === 0) return { outcome: success, replayed }
  const { result } = parsed(resultBodySchema, body)
  const found = Object.entries(result.data).filter(([name]) => makes.includes(name))
  return {
    outcome: success,
    replayed,
    made: Object.fromEntries(found.map(([name, id]) => [name, [String(id)]])),
  }
}

/**
 * Returns the owner of a call: the tenant of the caller, or the API key that a rejected caller claims to have
 * (null if there is no such key). Returns `none` if the caller was authenticated without an API key.
 */
function ownerOf(caller: Caller | null, { headers }: IncomingMessage): RequestOwner | 'none' {
  if (caller !== null) return isInTenant(caller) ? caller.tenant : 'none'
  const apiKey = readHeader(headers, apiKeyHeader)
  return apiKey === null ? null : { apiKey, workspaceId: null }
}

/**
 * Describes the outcome of a call for the list of recent requests. The cause of a server fault is written to
 * the log only.
 */
function describeOutcome(outcome: StoredResponse | { readonly error: unknown }) {
  if ('error' in outcome) {
    const error = toApiError(outcome.error)
    if (error === null)
      return { outcome: 'INTERNAL', reason: 'internal error; the log of the server has its cause' }
    return { outcome: error.status, code: error.code, reason: error.message }
  }
  const { error } = parsed(errorBodySchema, outcome.body)
  return { outcome: error.status, reason: error.message }
}

const errorBodySchema = s.object({ error: s.object({ status: s.string, message: s.string }) })
const resultBodySchema = s.object({
  result: s.object({ data: s.map(s.unknown) }),
})

const parsed = <T>(schema: s.SchemaOf<T>, body: StoredResponse['body']): T =>
  typeof body === 'string' ? readJson(schema, body) : checkJson(schema, body)

/** Maximum characters of the audited ids of one call. The limit is sufficient for a batch of 500 UUIDs. */
const charactersMax = 24_576

interface CollectedIds {
  readonly ids: AuditedIds
  /** Number of ids that were left out because of `charactersMax`. */
  readonly idsLeftOut: number
}

/**
 * Collects the ids in a call, by the names of their members. An id is a member with `format: 'id'` in the
 * schema. An id in a member `id`, or in a list, is collected under the name of its parent.
 * @param data data that is valid according to the schema
 */
function collectAuditedIds(schema: s.Schema, data: unknown): CollectedIds {
  const found = new Map<string, Set<string>>()
  let characters = 0
  let idsLeftOut = 0
  const take = (name: string, id: string): void => {
    const ids = found.get(name) ?? new Set()
    if (ids.has(id)) return
    characters += id.length
    if (characters > charactersMax) {
      idsLeftOut += 1
      return
    }
    found.set(name, ids.add(id))
  }
  collect(schema, data, '', take)
  return { ids: Object.fromEntries([...found].map(([name, ids]) => [name, [...ids]])), idsLeftOut }
}

function collect(
  schema: s.Schema,
  value: unknown,
  name: string,
  take: (name: string, id: string) => void,
): void {
  if (schema.type === 'string') {
    if (schema.format === 'id' && typeof value === 'string') take(name, value)
  } else if (schema.type === 'array') {
    if (Array.isArray(value)) for (const item of value) collect(schema.items, item, name, take)
  } else if (schema.type === 'object' && schema.properties !== undefined && isJsonObject(value)) {
    for (const [member, inner] of Object.entries(schema.properties))
      if (Object.hasOwn(value, member))
        collect(inner, value[member], member === 'id' && name !== '' ? `${name}.id` : member, take)
  }
}
