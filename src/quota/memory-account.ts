import { exhausted, type LimitName } from './limits.ts'

/** A caller retries after this time: the memory is free again within seconds. */
const retryAfterSeconds = 1

/** Bytes that one account may keep in memory. */
export interface AccountBounds {
  readonly perAddress: number
  readonly perWorkspace: number
  readonly inAll: number
}

/** The names under which the bounds of an account are reported. */
export type AccountLimits = Readonly<Record<keyof AccountBounds, LimitName>>

/** The client for which memory is kept. The workspace is null before authentication. */
export interface MemoryOwner {
  readonly workspaceId: string | null
  /** Null if the memory is not kept for one address. */
  readonly address: string | null
}

/** One row of the table of everything that keeps memory. */
export interface MeasuredMemory {
  readonly name: string
  /** In memory now. */
  readonly bytes: number
  readonly bytesMax: number
}

/** Called with each limit that is hit, and with the workspace or the address that hits it. */
export type LimitHit = (limit: LimitName, who: string) => void

/** The claims of one workspace or one address, and the sum of their bytes. */
interface Group {
  readonly name: string
  bytes: number
  readonly claims: Set<MemoryClaim>
}

/** Ends the client of a claim, which frees its memory. */
export type EndClient = () => void

/**
 * Counts the bytes that are kept in memory for one purpose: by workspace, by address and in total. At a
 * bound, the account ends the heaviest client at the heaviest address of the heaviest workspace. At its own
 * bound, a workspace loses only its own clients. At the total, the heaviest workspace loses one, even if it
 * is within its own bound.
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

  /** Returns whether a workspace uses half of its share. Then deferrable work should wait. */
  isCrowded(owner: MemoryOwner): boolean {
    return (this.#workspaces.get(ownerName(owner))?.bytes ?? 0) > this.bounds.perWorkspace / 2
  }

  /**
   * Opens a claim without bytes.
   * @param end ends the client at a bound; null: more bytes are rejected, but the client is never ended
   */
  open(owner: MemoryOwner, end: EndClient | null): MemoryClaim {
    return new MemoryClaim(this, owner, end)
  }

  /** Counts a change of a claim, without a check. Only `MemoryClaim` calls this. */
  count(claim: MemoryClaim, change: number): void {
    this.#bytes += change
    const { owner } = claim
    countIn(this.#workspaces, ownerName(owner), claim, change)
    if (owner.address !== null) countIn(this.#addresses, owner.address, claim, change)
  }

  /**
   * Ends the clients that keep the most memory until all bounds of the claim are met. Only `MemoryClaim`
   * calls this.
   */
  enforce({ owner: { workspaceId, address } }: MemoryClaim): void {
    const { perWorkspace, perAddress, inAll } = this.bounds
    if (workspaceId !== null) this.#shrink(this.#workspaces, workspaceId, perWorkspace, 'perWorkspace')
    if (address !== null) this.#shrink(this.#addresses, address, perAddress, 'perAddress')
    while (this.#bytes > inAll && this.#endOne(this.#heaviestOwner(), 'inAll')) {}
  }

  /**
   * Makes room for more bytes of a claim. Other workspaces that keep more memory lose the client that keeps
   * the most.
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

  /** Returns whether a client was ended. */
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

/** The memory that is kept for one client, a connection or a call. Costs nothing while it has no bytes. */
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

  /** Returns whether the account may end the client. */
  get isEndable(): boolean {
    return this.#end !== null && this.#state === 'open' && this.#bytes > 0
  }

  /**
   * Counts bytes that are in memory already. At a bound, the client that keeps the most is ended, possibly
   * this one.
   */
  set(bytes: number): void {
    const change = bytes - this.#bytes
    if (change === 0 || this.#state === 'ended') return
    this.#count(change)
    if (change > 0) this.#account.enforce(this)
  }

  /**
   * Counts bytes before they are in memory.
   * @throws ApiError RESOURCE_EXHAUSTED if there is no room; nothing is counted
   */
  reserve(bytes: number): void {
    if (this.#state === 'ended') return
    this.#account.makeRoom(this, bytes)
    this.#count(bytes)
  }

  /** From now on the account does not end the client: that would not free the memory. */
  pin(): void {
    this.#end = null
  }

  /** Releases the memory. The claim can be used again. */
  release(): void {
    if (this.#bytes > 0) this.#count(-this.#bytes)
  }

  /** Ends the client. The claim counts nothing afterwards. */
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

/** Clients of an unknown workspace are counted by their address. A workspace id has no space. */
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
 * Returns the largest claim that can be ended, first by workspace, then by address: of the workspace with the
 * most bytes in the group, and of its address with the most bytes. Null if there is none.
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

/** The claims whose key has the most bytes. */
function heaviestBy(claims: readonly MemoryClaim[], keyOf: (claim: MemoryClaim) => string): MemoryClaim[] {
  const sums = new Map<string, number>()
  for (const claim of claims) sums.set(keyOf(claim), (sums.get(keyOf(claim)) ?? 0) + claim.bytes)
  const most = Math.max(...sums.values())
  const [heaviest] = [...sums].find(([, sum]) => sum === most) ?? []
  return claims.filter((claim) => keyOf(claim) === heaviest)
}
