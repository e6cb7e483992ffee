import { hocuspocus } from './hocuspocus.ts'
import type { Protocol } from './message.ts'

/** Somebody who speaks of one document. */
interface Speaker {
  /** As it calls the document. */
  readonly name: string
  onClosed(fn: () => void): void
}

interface Named {
  readonly protocol: Protocol
  speakers: number
}

/** Protocols in which every message has its document's name: one for all who call it the same, so that they share frames. */
export class PerDocumentProtocols {
  readonly #named = new Map<string, Named>()

  /** The protocol of a speaker, until it is closed. */
  enter(speaker: Speaker): Protocol {
    const { name } = speaker
    const named = this.#named.get(name) ?? { protocol: hocuspocus(name), speakers: 0 }
    this.#named.set(name, named)
    named.speakers += 1
    speaker.onClosed(() => {
      named.speakers -= 1
      if (named.speakers === 0) this.#named.delete(name)
    })
    return named.protocol
  }
}
