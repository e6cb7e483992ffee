import { type Hook, HookReceiver, hookCalls } from '../../support/clients/webhook-receiver.ts'
import { dataOf } from '../../support/servers/server.ts'
import type { TestCluster } from './cluster.ts'

const pauseMs = 150
const filterTypes = ['document.create']

/**
 * Creates documents by REST at one node after the other, and counts their events at a receiver, which must
 * get each once.
 */
export class Events {
  readonly #cluster: TestCluster
  readonly #receiver: HookReceiver
  readonly #name: string
  /** Documents whose creation was answered. */
  readonly #answered = new Set<string>()
  #asked = 0
  #state: 'making' | 'done' = 'making'
  readonly #making: Promise<void>

  private constructor(cluster: TestCluster, receiver: HookReceiver, name: string) {
    this.#cluster = cluster
    this.#receiver = receiver
    this.#name = name
    this.#making = this.#make()
  }

  /** @param name a unique name */
  static async begin(cluster: TestCluster, name: string): Promise<Events> {
    const receiver = await HookReceiver.start()
    const calls = hookCalls(async (path, data) => dataOf(await cluster.next().post(path, data)))
    await calls.begin()
    const id = await calls.endpoint(receiver.url, { filterTypes })
    const events = new Events(cluster, receiver, name)
    events.remove = async () => {
      await calls.remove(id)
      await receiver.stop()
    }
    return events
  }

  /** Removes the endpoint and stops the receiver. */
  remove: () => Promise<void> = async () => undefined

  get count(): number {
    return this.#answered.size
  }

  async stop(): Promise<void> {
    this.#state = 'done'
    await this.#making
  }

  /** Returns the number of answered documents without an event. */
  missing(): number {
    const told = this.#idsOfDocuments()
    return [...this.#answered].filter((documentId) => !told.has(documentId)).length
  }

  /** Returns the number of documents with several events. */
  doubled(): number {
    return [...this.#idsOfDocuments().values()].filter((ids) => ids.size > 1).length
  }

  #idsOfDocuments(): ReadonlyMap<string, ReadonlySet<string>> {
    const all = new Map<string, Set<string>>()
    for (const { headers, body } of this.#receiver.hooks as readonly Hook[]) {
      const { documentId } = (JSON.parse(body) as { data: { documentId?: string } }).data
      if (documentId === undefined || !documentId.startsWith(this.#name)) continue
      all.set(documentId, (all.get(documentId) ?? new Set()).add(String(headers['webhook-id'])))
    }
    return all
  }

  async #make(): Promise<void> {
    const { document } = hookCalls(async (path, data) => dataOf(await this.#cluster.next().post(path, data)))
    while (this.#state === 'making') {
      const documentId = `${this.#name}-made-${++this.#asked}`
      // A failed call may have created the document.
      const made = await document(documentId).then(
        () => true,
        () => false,
      )
      if (made) this.#answered.add(documentId)
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}
