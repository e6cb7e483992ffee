import type { MeasuredMemory } from '../metrics/metrics.ts'
import { exhausted, type LimitName } from './limits.ts'

/** Seconds after which a rejected caller should retry. Memory is usually free again within seconds. */
const retryAfterSeconds = 1

/**
 * Maximum numbers of bytes that one account keeps in memory: for each address, for each workspace, and in
 * total.
 */
export interface AccountBounds {
  readonly perAddress: number
  readonly perWorkspace: number
  readonly inAll: number
}

/** The limit that is reported when a bound of the account is exceeded, by bound. */
export type AccountLimits = Readonly<Record<keyof AccountBounds, LimitName>>

/** The client for which memory is kept. `workspaceId` is null before authentication. */
export interface MemoryOwner {
  readonly workspaceId: string | null
  /** Null if the memory does not belong to one address. */
  readonly address: string | null
}

/** Called when a limit is exceeded, with the workspace or address that has exceeded it. */
export type LimitHit = (limit: LimitName, who: string) => void

/** The claims of one workspace or one address, and the total number of their bytes. */
interface Group {
  readonly name: string
  bytes: number
  readonly claims: Set<MemoryClaim>
}

/** Disconnects the client that holds a claim, or drops its data, so that its memory is released. */
export type EndClient = () => void

/**
 * Counts the bytes that are kept in memory for one purpose, by workspace, by address and in total. When a
 * bound is exceeded, the account ends clients until the bound is met. It first selects the workspace with the
 * most memory, then the address with the most memory in this workspace, then the client with the most memory
 * at this address.
 *
 * A workspace that exceeds its own bound loses only its own clients. If the total is exceeded, the workspace
 * with the most memory loses a client, even if it is within its own bound.
 */
export class MemoryAccount implements MeasuredMemory {
  readonly name: string
  readonly bounds: AccountBounds
  readonly #limits: AccountLimits
  readonly #hit: LimitHit
  readonly #workspaces = new Map<string, Group>()
  readonly #addresses = new Map<string, Group>()
  #bytes = 0

  constructor(name: string, bounds: AccountBounds, limits: AccountLimits, hit: LimitHit) {
    this.name = name
    this.bounds = bounds
    this.#limits = limits
    this.#hit = hit
  }

  get bytes(): number {
    return this.#bytes
  }

  get bytesMax(): number {
    return this.bounds.inAll
  }

  /**
   * Returns whether the workspace of `owner` uses more than half of its bound. Work that can be deferred
   * should then wait.
   */
  isCrowded(owner: MemoryOwner): boolean {
    return (this.#workspaces.get(ownerName(owner))?.bytes ?? 0) > this.bounds.perWorkspace / 2
  }

  /**
   * Opens a claim, which has no bytes yet.
   * @param end called to end this client when a bound is exceeded; null: the client is never ended, but
   * further bytes may be rejected
   */
  open(owner: MemoryOwner, end: EndClient | null): MemoryClaim {
    return new MemoryClaim(this, owner, end)
  }

  /**
   * Adds a change of the bytes of a claim to the counts, without checking the bounds. Only `MemoryClaim`
   * calls this method.
   */
  count(claim: MemoryClaim, change: number): void {
    this.#bytes += change
    const { owner } = claim
    countIn(this.#workspaces, ownerName(owner), claim, change)
    if (owner.address !== null) countIn(this.#addresses, owner.address, claim, change)
  }

  /**
   * Ends the clients with the most memory, until all bounds that apply to the claim are met. Only
   * `MemoryClaim` calls this method.
   */
  enforce({ owner: { workspaceId, address } }: MemoryClaim): void {
    const { perWorkspace, perAddress, inAll } = this.bounds
    if (workspaceId !== null) this.#shrink(this.#workspaces, workspaceId, perWorkspace, 'perWorkspace')
    if (address !== null) this.#shrink(this.#addresses, address, perAddress, 'perAddress')
    while (this.#bytes > inAll && this.#endOne(this.#heaviestOwner(), 'inAll')) {}
  }

  /**
   * Makes room for `more` bytes of a claim. If the total would be exceeded, ends clients of other workspaces,
   * but only of workspaces that use more memory than the workspace of the claim would then use.
   * @throws ApiError RESOURCE_EXHAUSTED if there is no room
   */
  makeRoom({ owner }: MemoryClaim, more: number): void {
    const { perWorkspace, inAll } = this.bounds
    const name = ownerName(owner)
    const own = this.#workspaces.get(name)?.bytes ?? 0
    if (own + more > perWorkspace) throw this.#exhausted('perWorkspace', 'of this workspace ')
    while (this.#bytes + more > inAll) {
      const heaviest = this.#heaviestOwner()
      const isOther = heaviest !== null && heaviest.name !== name && heaviest.bytes > own + more
      if (!isOther || !this.#endOne(heaviest, 'inAll')) throw this.#exhausted('inAll', '')
    }
  }

  #exhausted(bound: 'perWorkspace' | 'inAll', whose: string): Error {
    return exhausted(this.#limits[bound], this.bounds[bound], {
      problem: `too many large calls ${whose}at once`,
      remedy: `try again after ${retryAfterSeconds} s, make fewer or smaller calls at once`,
      retryAfterSeconds,
      option: 'memoryBudgetBytes',
    })
  }

  #shrink(
    groups: ReadonlyMap<string, Group>,
    name: string,
    bytesMax: number,
    bound: keyof AccountBounds,
  ): void {
    for (;;) {
      const group = groups.get(name)
      if (group === undefined || group.bytes <= bytesMax || !this.#endOne(group, bound)) return
    }
  }

  /** Ends the client of a group that `heaviestIn` selects. Returns false if no client can be ended. */
  #endOne(group: Group | null, bound: keyof AccountBounds): boolean {
    const claim = group === null ? null : heaviestIn(group)
    if (claim === null) return false
    const { workspaceId, address } = claim.owner
    const who = bound === 'perAddress' ? address : (workspaceId ?? address)
    this.#hit(this.#limits[bound], who ?? '')
    claim.end()
    return true
  }

  #heaviestOwner(): Group | null {
    let heaviest: Group | null = null
    for (const group of this.#workspaces.values())
      if (heaviest === null || group.bytes > heaviest.bytes) heaviest = group
    return heaviest
  }
}

/**
 * The memory that is kept for one client, which is a connection or a call. A claim without bytes is not part
 * of any count.
 */
export class MemoryClaim {
  readonly owner: MemoryOwner
  readonly #account: MemoryAccount
  #end: EndClient | null
  #bytes = 0
  #state: 'open' | 'ended' = 'open'

  constructor(account: MemoryAccount, owner: MemoryOwner, end: EndClient | null) {
    this.#account = account
    this.owner = owner
    this.#end = end
  }

  get bytes(): number {
    return this.#bytes
  }

  /** True if ending the client is possible and would release memory. */
  get isEndable(): boolean {
    return this.#end !== null && this.#state === 'open' && this.#bytes > 0
  }

  /**
   * Sets the number of bytes of the claim, after these bytes have been allocated. If a bound is then
   * exceeded, the client with the most memory is ended, which may be this client.
   */
  set(bytes: number): void {
    const change = bytes - this.#bytes
    if (change === 0 || this.#state === 'ended') return
    this.#count(change)
    if (change > 0) this.#account.enforce(this)
  }

  /**
   * Adds bytes to the claim, before they are allocated.
   * @throws ApiError RESOURCE_EXHAUSTED if there is no room; the bytes are then not added
   */
  reserve(bytes: number): void {
    if (this.#state === 'ended') return
    this.#account.makeRoom(this, bytes)
    this.#count(bytes)
  }

  /**
   * Prevents the account from ending the client. Call it when ending the client would no longer release its
   * memory.
   */
  pin(): void {
    this.#end = null
  }

  /** Sets the number of bytes to 0. The claim can be used again afterwards. */
  release(): void {
    if (this.#bytes > 0) this.#count(-this.#bytes)
  }

  /** Ends the client. Afterwards, the claim ignores all changes. */
  end(): void {
    if (this.#state === 'ended') return
    this.release()
    this.#state = 'ended'
    this.#end?.()
  }

  #count(change: number): void {
    this.#bytes += change
    this.#account.count(this, change)
  }
}

/**
 * Returns the name of the workspace group to which an owner belongs: the id of its workspace. Before
 * authentication, each address has a separate group. A workspace id contains no space, so the names of the
 * two kinds of groups cannot be equal.
 */
const ownerName = ({ workspaceId, address }: MemoryOwner): string => workspaceId ?? `address ${address}`

function countIn(groups: Map<string, Group>, name: string, claim: MemoryClaim, change: number): void {
  const group = groups.get(name) ?? { name, bytes: 0, claims: new Set() }
  group.bytes += change
  if (claim.bytes > 0) group.claims.add(claim)
  else group.claims.delete(claim)
  if (group.claims.size > 0) groups.set(name, group)
  else groups.delete(name)
}

/**
 * Returns the claim to end in a group; null if no claim can be ended. First selects the workspace with the
 * most bytes in the group, then its address with the most bytes, then the largest claim of that address.
 */
function heaviestIn({ claims }: Group): MemoryClaim | null {
  const endable = [...claims].filter(({ isEndable }) => isEndable)
  const ofWorkspace = heaviestBy(endable, ({ owner }) => ownerName(owner))
  const ofAddress = heaviestBy(ofWorkspace, ({ owner }) => owner.address ?? '')
  return ofAddress.reduce<MemoryClaim | null>(
    (heaviest, claim) => (heaviest === null || claim.bytes > heaviest.bytes ? claim : heaviest),
    null,
  )
}

/** Groups the claims by key, and returns the claims of the group with the most bytes in total. */
function heaviestBy(claims: readonly MemoryClaim[], keyOf: (claim: MemoryClaim) => string): MemoryClaim[] {
  const sums = new Map<string, number>()
  for (const claim of claims) sums.set(keyOf(claim), (sums.get(keyOf(claim)) ?? 0) + claim.bytes)
  const most = Math.max(...sums.values())
  const [heaviest] = [...sums].find(([, sum]) => sum === most) ?? []
  return claims.filter((claim) => keyOf(claim) === heaviest)
}
