import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import { asBuffer } from '../../../core/base/bytes.ts'

export interface BusMessage {
  readonly topic: string
  readonly message: Uint8Array
}

/** Maximum number of characters in the text of a part. PostgreSQL allows 7,999 bytes for a whole payload. */
const textMax = 7_900

interface Outgoing {
  /** Id of the bus: text without spaces, up to 32 characters, that no other bus of the schema has. */
  readonly sender: string
  /** Whether the sender has dropped messages, or does not know whether messages before these were sent. */
  readonly isAfterLoss: boolean
  readonly messages: readonly BusMessage[]
}

/**
 * Returns the payloads of notifications that contain messages. The messages are divided into parts, because PostgreSQL
 * limits the size of a payload. There is at least one part, also for no messages.
 */
export function payloadsOf({ sender, isAfterLoss, messages }: Outgoing): readonly string[] {
  const text = encode(messages).toString('base64')
  const count = Math.max(1, Math.ceil(text.length / textMax))
  return Array.from({ length: count }, (_, index) => {
    const part = text.slice(index * textMax, (index + 1) * textMax)
    return `${sender} ${isAfterLoss ? 'lost' : 'whole'} ${index + 1}/${count} ${part}`
  })
}

function encode(messages: readonly BusMessage[]): Buffer {
  const encoder = encoding.createEncoder()
  for (const { topic, message } of messages) {
    // JSON, because a topic may contain half of a surrogate pair, which UTF-8 cannot express.
    encoding.writeVarString(encoder, JSON.stringify(topic))
    encoding.writeVarUint8Array(encoder, message)
  }
  return asBuffer(encoding.toUint8Array(encoder))
}

/** The parts of messages that have arrived before their last part. */
interface Begun {
  readonly index: number
  readonly text: string
}

const nothing: Begun = { index: 0, text: '' }
const payloadForm = /^(\S{1,32}) (lost|whole) (\d{1,9})\/(\d{1,9}) (.*)$/

/** Reads the payloads of notifications, and joins the parts of other buses. */
export class PartReader {
  readonly #own: string
  readonly #lost: () => void
  readonly #begun = new Map<string, Begun>()

  /**
   * @param own id of the bus of this process, whose parts are ignored
   * @param lost called when messages are missing or unreadable
   */
  constructor(own: string, lost: () => void) {
    this.#own = own
    this.#lost = lost
  }

  /** Returns the messages that this payload completes. */
  read(payload: string): readonly BusMessage[] {
    const [, sender = '', state, index, count, text = ''] = payloadForm.exec(payload) ?? []
    if (sender === this.#own) return []
    if (state !== 'whole') this.#lost()
    const joined = this.#joined(sender, Number(index), text)
    if (joined === null) return []
    if (index !== count) {
      this.#begun.set(sender, { index: Number(index), text: joined })
      return []
    }
    try {
      return decode(joined)
    } catch {
      this.#lost()
      return []
    }
  }

  /** Joins a part with the parts before it. Returns null if one of them is missing. */
  #joined(sender: string, index: number, text: string): string | null {
    const before = index === 1 ? nothing : (this.#begun.get(sender) ?? nothing)
    const isMissing = before.index !== index - 1 || (index === 1 && this.#begun.has(sender))
    this.#begun.delete(sender)
    if (isMissing) this.#lost()
    return before.index === index - 1 ? before.text + text : null
  }
}

/** @throws Error if the text is malformed */
function decode(text: string): readonly BusMessage[] {
  const decoder = decoding.createDecoder(Buffer.from(text, 'base64'))
  const messages: BusMessage[] = []
  while (decoding.hasContent(decoder)) {
    const topic: unknown = JSON.parse(decoding.readVarString(decoder))
    if (typeof topic !== 'string') throw new Error('a topic is a text')
    messages.push({ topic, message: decoding.readVarUint8Array(decoder) })
  }
  return messages
}
