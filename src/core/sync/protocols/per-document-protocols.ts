import { hocuspocus } from './hocuspocus.ts'
import type { Protocol } from './message.ts'

/** A channel that uses the protocol of one document. */
interface ProtocolUser {
  /** Document name as the client sends it. */
  readonly name: string
  onClosed(fn: () => void): void
}

interface SharedProtocol {
  readonly protocol: Protocol
  users: number
}

/**
 * The protocol objects of the open documents, for a protocol whose messages start with the document name.
 * Channels with the same document name use the same object, and therefore the same frames.
 */
export class PerDocumentProtocols {
  readonly #byName = new Map<string, SharedProtocol>()

  /**
   * Returns the protocol object for a channel. The object is released when the last of its channels closes.
   */
  acquire(user: ProtocolUser): Protocol {
    const { name } = user
    const shared = this.#byName.get(name) ?? { protocol: hocuspocus(name), users: 0 }
    this.#byName.set(name, shared)
    shared.users += 1
    user.onClosed(() => {
      shared.users -= 1
      if (shared.users === 0) this.#byName.delete(name)
    })
    return shared.protocol
  }
}
