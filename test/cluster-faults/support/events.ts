import { type Hook, HookReceiver, hookCalls } from '../../support/clients/webhook-receiver.ts'
import { dataOf } from '../../support/servers/server.ts'
import type { TestCluster } from './cluster.ts'

const pauseMs = 150
const filterTypes = ['document.create']

/** Documents are made by REST at one node after the other, and a receiver is to be told of each once. */
export class Events {
  readonly #cluster: TestCluster
  readonly #receiver: HookReceiver
  readonly #name: string
  /** Made, as somebody was answered. */
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

  /** @param name that no other has */
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

  /** The receiver is there no more, and nobody sends to it. */
  remove: () => Promise<void> = async () => undefined

  get count(): number {
    return this.#answered.size
  }

  async stop(): Promise<void> {
    this.#state = 'done'
    await this.#making
  }

  /** Of which nobody was told though their making was answered. */
  missing(): number {
    const told = this.#idsOfDocuments()
    return [...this.#answered].filter((documentId) => !told.has(documentId)).length
  }

  /** Documents that are told of as several events. */
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
      // Where it fails nobody knows whether it was made.
      const made = await document(documentId).then(
        () => true,
        () => false,
      )
      if (made) this.#answered.add(documentId)
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}
