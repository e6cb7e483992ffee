import type { Clock } from '../base/clock.ts'
import * as s from '../base/schema.ts'
import { shortened } from '../base/text.ts'
import type { TenantStore } from '../directory/tenants/tenant-store.ts'
import type { Tenant } from '../model/address.ts'
import { addressSchemas } from '../model/address-schemas.ts'
import { TimeOrderedIds } from '../model/time-ordered-ids.ts'
import { tenantName } from '../store/key-encoding.ts'
import type { NodeRequests } from '../store/node-requests.ts'
import { success } from './record.ts'

/** Describes a request that the server has just answered. */
export interface RequestNote {
  readonly kind: 'rest' | 'websocket'
  /** Path of the operation. For a websocket, the document or the path that it requested. */
  readonly target: string
  /** `success`, the status of an error, or the close code of a websocket. */
  readonly outcome: string
  /** Error code of a rejected REST call. */
  readonly code?: string
  /** Reason why the server rejected the request. Absent if it did not. */
  readonly reason?: string
  readonly clientAddress: string
  readonly requestId?: string
}

interface Repetition {
  /** Unique id. Ids sort by the time of the latest request. */
  readonly id: string
  /** Time of the latest request, in epoch milliseconds. */
  readonly at: number
  readonly times: number
}

/** A group of equal requests. It contains the latest of these requests and their number (`times`). */
interface KeptRequest extends RequestNote, Repetition {
  /** Name of the node that answered the requests. */
  readonly node: string
}

/** The form in memory. The request is not copied into it, because each call makes one. */
interface RequestGroup extends Repetition {
  readonly note: RequestNote
}

/**
 * The API key to which a request belongs. With `workspaceId` null, `apiKey` is an id that the client has sent
 * without proof; it may not exist. Null: the request contains no API key.
 */
export type RequestOwner = Tenant | { readonly apiKey: string; readonly workspaceId: null } | null

interface RecentQuery {
  /** If true, lists only rejected requests. */
  readonly onlyRejected: boolean
  readonly kind: RequestNote['kind'] | null
}

interface PageRange {
  readonly after: string | undefined
  readonly limit: number
}

interface RecentPage {
  readonly items: readonly KeptRequest[]
  readonly next: string | null
}

/** Maximum number of requests in one page. A page of this size of one node fits into a message. */
export const recentPageMax = 100
/** Maximum number of requests that are kept for one API key, in each group (accepted, rejected, unproven). */
const keptOfKey = 100
/**
 * Maximum number of requests that are kept for all API keys together. This number of requests uses a few MB
 * of memory.
 */
const keptMax = 5_000
/** Maximum number of requests that wait until their owner has been read. Further requests are not kept. */
const pendingMax = 1_000
const textLengthMax = 300
const claimLengthMax = 128

interface ListCall extends RecentQuery, PageRange {
  readonly tenant: Tenant
}

const kindSchema = s.choice(['rest', 'websocket'])
const listSchema = s.object(
  { tenant: addressSchemas.tenant, onlyRejected: s.boolean, kind: s.orNull(kindSchema), limit: s.number },
  { after: s.string },
)
const listAnswerSchema = s.array(
  s.object(
    {
      kind: kindSchema,
      target: s.string,
      outcome: s.string,
      clientAddress: s.string,
      id: s.string,
      at: s.number,
      times: s.number,
      node: s.string,
    },
    { code: s.string, reason: s.string, requestId: s.string },
  ),
)

interface Kept {
  /**
   * Accepted requests, sorted by the time of the latest request, latest last. The key is a text that is the
   * same for equal requests.
   */
  readonly accepted: Map<string, RequestGroup>
  readonly rejected: Map<string, RequestGroup>
  /**
   * Rejected requests of clients that did not prove that they have the API key. They are kept separately, so
   * that a stranger who knows the id of an API key cannot displace the requests of its owner.
   */
  readonly unproven: Map<string, RequestGroup>
}

/**
 * Keeps the latest requests of each API key in memory. Equal requests form one entry with a counter, so that
 * a flood of equal requests cannot displace other entries. The entries contain no content, no tokens and no
 * secrets.
 */
export class RecentRequests {
  readonly #tenants: Pick<TenantStore, 'tenantOf' | 'workspaceIds'>
  readonly #clock: Clock
  readonly #first: Tenant
  readonly #ids = new TimeOrderedIds()
  /** The requests by API key. The API key that had a request last is at the end. */
  readonly #byTenant = new Map<string, Kept>()
  /** Requests that are not kept yet, because their owner is still being read. */
  readonly #pending = new Set<Promise<void>>()
  /** Sends requests to the other nodes, because each node keeps only the requests that it has answered itself. */
  #calls: NodeRequests | null = null
  #self = ''
  #kept = 0

  /**
   * @param first owner of the requests that contain no API key, while the server has one workspace. With several, such
   * requests are not kept.
   */
  constructor(tenants: Pick<TenantStore, 'tenantOf' | 'workspaceIds'>, clock: Clock, first: Tenant) {
    this.#tenants = tenants
    this.#clock = clock
    this.#first = { workspaceId: first.workspaceId, apiKey: first.apiKey }
  }

  /** Makes the requests of this node available to the other nodes. @param self name of this node */
  share(calls: NodeRequests, self: string): void {
    this.#calls = calls
    this.#self = self
    calls.answer('requests.list', listSchema, (call) => this.#listHere({ ...call, after: call.after }))
  }

  /** Keeps a request, or counts it if an equal request is already kept. Never throws. */
  note(owner: RequestOwner, request: RequestNote): void {
    if (owner !== null && owner.workspaceId !== null) return this.#add(owner, request, 'proven')
    if (this.#pending.size >= pendingMax) return
    const adding = this.#ownerOf(owner?.apiKey ?? null)
      .then((tenant) => {
        if (tenant !== null) this.#add(tenant, request, 'unproven')
      })
      .finally(() => this.#pending.delete(adding))
    this.#pending.add(adding)
  }

  /**
   * Returns a page of the requests of an API key, latest first. Includes the requests of all nodes that
   * answer in time.
   */
  async list({ workspaceId, apiKey }: Tenant, query: RecentQuery, range: PageRange): Promise<RecentPage> {
    await Promise.all(this.#pending)
    const { after, limit } = range
    const call: ListCall = { tenant: { workspaceId, apiKey }, ...query, after, limit: limit + 1 }
    const there =
      (await this.#calls?.ask('requests.list', call, listAnswerSchema)) ?? new Map<string, KeptRequest[]>()
    const found = [this.#listHere(call), ...there.values()].flat().toSorted(latestFirst)
    const items = found.slice(0, limit)
    return { items, next: found.length > limit ? (items.at(-1)?.id ?? null) : null }
  }

  #listHere({ tenant, onlyRejected, kind, after, limit }: ListCall): readonly KeptRequest[] {
    const kept = this.#byTenant.get(tenantName(tenant))
    if (kept === undefined) return []
    const { accepted, rejected, unproven } = kept
    return [...rejected.values(), ...unproven.values(), ...(onlyRejected ? [] : accepted.values())]
      .filter(({ note, id }) => (kind === null || note.kind === kind) && (after === undefined || id < after))
      .toSorted(latestFirst)
      .slice(0, limit)
      .map(({ note, ...repetition }) => ({ ...note, ...repetition, node: this.#self }))
  }

  #add(tenant: Tenant, request: RequestNote, owner: 'proven' | 'unproven'): void {
    const kept = this.#keptOf(tenant)
    const note = withShortTexts(request)
    const proven = note.outcome === success ? kept.accepted : kept.rejected
    const requests = owner === 'proven' ? proven : kept.unproven
    const kind = JSON.stringify([
      note.kind,
      note.outcome,
      note.code,
      note.clientAddress,
      note.target,
      note.reason,
    ])
    const times = (requests.get(kind)?.times ?? 0) + 1
    const { id, at } = this.#ids.next(this.#clock.now())
    if (!requests.delete(kind)) this.#kept += 1
    requests.set(kind, { note, id, at, times })
    if (requests.size > keptOfKey) this.#dropOldest(requests)
    while (this.#kept > keptMax) this.#dropOfOldestKey()
  }

  #keptOf(tenant: Tenant): Kept {
    const key = tenantName(tenant)
    const kept = this.#byTenant.get(key) ?? {
      accepted: new Map(),
      rejected: new Map(),
      unproven: new Map(),
    }
    this.#byTenant.delete(key)
    this.#byTenant.set(key, kept)
    return kept
  }

  #dropOldest(requests: Map<string, RequestGroup>): void {
    for (const kind of requests.keys()) {
      requests.delete(kind)
      this.#kept -= 1
      return
    }
  }

  /** Drops all requests of the API key that has had no request for the longest time. */
  #dropOfOldestKey(): void {
    for (const [key, groups] of this.#byTenant) {
      this.#byTenant.delete(key)
      this.#kept -= Object.values(groups).reduce((sum, { size }) => sum + size, 0)
      return
    }
  }

  /** Returns the tenant of an API key that a client has sent. Without an API key, returns the only owner. */
  async #ownerOf(apiKey: string | null): Promise<Tenant | null> {
    const isClaim = apiKey !== null && apiKey.length <= claimLengthMax
    const owner = isClaim ? await this.#tenants.tenantOf(apiKey).catch(() => null) : null
    return owner ?? this.#onlyOwner()
  }

  async #onlyOwner(): Promise<Tenant | null> {
    let count = 0
    try {
      for await (const _ of this.#tenants.workspaceIds()) if (++count > 1) return null
      return this.#first
    } catch {
      return null
    }
  }
}

function withShortTexts(note: RequestNote): RequestNote {
  const { target, reason } = note
  if (target.length <= textLengthMax && (reason === undefined || reason.length <= textLengthMax)) return note
  return {
    ...note,
    target: shortened(target, textLengthMax),
    ...(reason !== undefined && { reason: shortened(reason, textLengthMax) }),
  }
}

const latestFirst = (a: Repetition, b: Repetition): number => (a.id < b.id ? 1 : -1)
