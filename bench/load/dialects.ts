import { type Dialect, plain, readFrom } from '../../src/cli/bench/dialect.ts'
import { prefixed, readVarUint } from '../../src/cli/bench/frames.ts'

const auth = 2

const named = (document: string, message: Buffer): Buffer =>
  Buffer.concat([prefixed(Buffer.from(document)), message])

/** Hocuspocus': each message starts with the name of its document. */
export const hocuspocus: Dialect = {
  hello: (document) => [named(document, Buffer.concat([Buffer.of(auth, 0), prefixed(Buffer.from('token'))]))],
  ask: (document) => named(document, plain.ask(document)),
  offerNothing: (document) => named(document, plain.offerNothing(document)),
  update: (document, bytes) => named(document, plain.update(document, bytes)),
  awareness: (document, bytes) => named(document, plain.awareness(document, bytes)),
  read: (payload) => {
    const { value, end } = readVarUint(payload, 0)
    return readFrom(payload, end + value)
  },
}
