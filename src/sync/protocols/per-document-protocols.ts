import { hocuspocus } from './hocuspocus.ts'
import type { Protocol } from './message.ts'

/** Somebody who speaks of one document. */
interface ProtocolUser {
  /** As it calls the document. */
  readonly name: string
  onClosed(fn: () => void): void
}

interface SharedProtocol {
  readonly protocol: Protocol
  users: number
}

/** Protocols in which every message has its document's name: one for all who call it the same, so that they share frames. */
export class PerDocumentProtocols {
  readonly #byName = new Map<string, SharedProtocol>()

  /** The protocol of a speaker, until it is closed. */
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
