import { hocuspocus } from './hocuspocus.ts'
import type { Protocol } from './message.ts'

/** A channel that uses the protocol of one document. */
interface ProtocolUser {
  /** Name of the document, as sent by the client. */
  readonly name: string
  onClosed(fn: () => void): void
}

interface SharedProtocol {
  readonly protocol: Protocol
  users: number
}

/**
 * Protocols whose messages start with the document name. Channels with the same name use the same protocol,
 * and therefore the same frames.
 */
export class PerDocumentProtocols {
  readonly #byName = new Map<string, SharedProtocol>()

  /** Returns the protocol of a channel. The protocol is released when the channel closes. */
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
