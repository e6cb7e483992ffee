import type { EndClient, MemoryClaim } from '../../quota/memory-account.ts'
import type { MemoryLedger } from '../../quota/memory-bounds.ts'

export type SocketMemoryAccounts = Pick<
  MemoryLedger,
  'unauthenticatedMessages' | 'incompleteMessages' | 'unreadSockets'
>

export interface SocketOwner {
  readonly address: string
  /** Null before authentication. */
  readonly workspaceId: string | null
}

/**
 * Counts the memory that the incomplete message of one client takes. The claim is opened only when it is
 * needed, because most sockets have no incomplete message.
 */
export class SocketMemory {
  readonly #accounts: SocketMemoryAccounts
  readonly #end: EndClient
  owner: SocketOwner
  #incomplete: MemoryClaim | null = null

  /** @param end closes the connection; called if too much memory is used */
  constructor(accounts: SocketMemoryAccounts, owner: SocketOwner, end: EndClient) {
    this.#accounts = accounts
    this.owner = owner
    this.#end = end
  }

  /**
   * Counts the memory for the workspace instead of the address from now on, because the client is
   * authenticated.
   */
  admit(workspaceId: string): void {
    const bytes = this.#incomplete?.bytes ?? 0
    this.release()
    this.owner = { ...this.owner, workspaceId }
    this.#incomplete = null
    if (bytes > 0) this.setIncomplete(bytes)
  }

  get isCrowded(): boolean {
    return this.#accounts.unreadSockets.isCrowded(this.owner)
  }

  /** Sets the size of the incomplete message. @param bytes memory in bytes that the message takes */
  setIncomplete(bytes: number): void {
    if (bytes === 0 && this.#incomplete === null) return
    const { unauthenticatedMessages, incompleteMessages } = this.#accounts
    const account = this.owner.workspaceId === null ? unauthenticatedMessages : incompleteMessages
    this.#incomplete ??= account.open(this.owner, this.#end)
    this.#incomplete.set(bytes)
  }

  /** Releases the memory when the connection is closed. */
  release(): void {
    this.#incomplete?.release()
  }
}
