import { NatsBus } from '../../src/cluster/nats/bus.ts'
import { openPostgresEngine } from '../../src/cluster/postgres/engine.ts'
import { bucketOf } from '../../src/core/store/buckets.ts'
import type { BusNamespace } from '../../src/core/store/cluster-bus.ts'
import type { Key } from '../../src/core/store/engine.ts'

/** A node without rooms, which sends and receives messages about documents. */
interface BareNode {
  tell(doc: Key, message: Uint8Array): void
  /** Receives the messages about all documents in the bucket of a document. */
  watch(doc: Key): Promise<void>
  end(): Promise<void>
}

const topicOf = (doc: Key): string => `document/${bucketOf(doc)}`

export async function openCopies(url: string, schema: string, nats: string, name: string): Promise<BareNode> {
  const openBus = ({ prefix }: BusNamespace) => NatsBus.open({ urls: [nats], prefix })
  const { bus, close } = await openPostgresEngine({ url, schema, nodes: { name, openBus } })
  return {
    tell: (doc, message) => bus.publish(topicOf(doc), message),
    watch(doc) {
      bus.subscribe(topicOf(doc), () => undefined)
      return bus.flushed()
    },
    end: close,
  }
}
