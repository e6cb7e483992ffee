import { randomUUID } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import type { Bus, Cluster } from '../../engine/engine.ts'
import { isJsonObject, parseJson } from '../presence/presence-messages.ts'

/** A node that has not answered by then is not waited for: it has died, or its answer is lost. */
export const answerMs = 250
const topic = (name: string): string => `nodes.call.${name}`
const answerTopic = (node: string): string => `nodes.answer.${node}`

/** Answers a request of another node; `payload` is a JSON value. Null: no value, which counts as an answer. */
export type RequestHandler = (payload: unknown, from: string) => unknown

/** `ordered`: the calls of one node arrive at most once, and never after a later one. An overtaken call is lost. */
export type RequestOrder = 'any' | 'ordered'

export interface NodeRequestDependencies {
  readonly bus: Bus
  readonly cluster: Cluster
  readonly clock: Clock
}

interface CallMessage {
  readonly from: string
  /** Id of the process: the numbers start again after a restart of the node. */
  readonly life: string
  readonly number: number
  readonly payload: unknown
  readonly answer: boolean
}

interface AnswerMessage {
  readonly from: string
  readonly life: string
  readonly number: number
  readonly value: unknown
}

interface Asked {
  readonly answers: Map<string, unknown>
  readonly check: () => void
}

/**
 * Sends each request to all nodes over the bus. A missing answer is not an error, because a node may die at any time.
 */
export class NodeRequests {
  readonly #dependencies: NodeRequestDependencies
  readonly #life = randomUUID()
  readonly #asked = new Map<number, Asked>()
  readonly #ends: (() => void)[] = []
  #number = 0

  constructor(dependencies: NodeRequestDependencies) {
    this.#dependencies = dependencies
    this.#ends.push(
      dependencies.bus.subscribe(answerTopic(dependencies.cluster.self), (message) => {
        const answer = parseJson(message)
        if (isSent(answer)) this.#hearAnswer(answer as AnswerMessage)
        return undefined
      }),
    )
  }

  /** Answers the requests of other nodes with this name. */
  answer(name: string, order: RequestOrder, answering: RequestHandler): void {
    const last = new Map<string, Pick<CallMessage, 'life' | 'number'>>()
    const listener = (message: Uint8Array): undefined => {
      const sent = parseJson(message)
      if (!isSent(sent) || sent.from === this.#dependencies.cluster.self) return
      const call = sent as CallMessage
      if (order === 'ordered') {
        const before = last.get(call.from)
        if (before?.life === call.life && before.number >= call.number) return
        last.set(call.from, { life: call.life, number: call.number })
      }
      // A request of another version of Weft may be malformed: it gets no answer.
      this.#answer(call, answering).catch(() => {})
    }
    this.#ends.push(this.#dependencies.bus.subscribe(topic(name), listener))
  }

  /**
   * Requests a value from all other nodes. Resolves with the answers that arrive in time; immediately if there are no
   * other nodes.
   */
  ask(name: string, payload: unknown): Promise<ReadonlyMap<string, unknown>> {
    const number = ++this.#number
    const answers = new Map<string, unknown>()
    return new Promise((resolve) => {
      const finish = (): void => {
        cancel()
        this.#asked.delete(number)
        resolve(answers)
      }
      const check = (): void => {
        if (this.#others().every((node) => answers.has(node))) finish()
      }
      const cancel = this.#dependencies.clock.after(answerMs, finish)
      this.#asked.set(number, { answers, check })
      if (this.#others().length > 0) this.#publish(name, number, payload, true)
      check()
    })
  }

  /** Sends a message to the other nodes, without an answer. */
  tell(name: string, payload: unknown): void {
    if (this.#others().length > 0) this.#publish(name, ++this.#number, payload, false)
  }

  close(): void {
    for (const end of this.#ends) end()
  }

  /** Returns the nodes to wait for: none while the bus is disconnected. */
  #others(): readonly string[] {
    const { bus, cluster } = this.#dependencies
    return bus.isConnected ? cluster.nodes().filter((node) => node !== cluster.self) : []
  }

  #publish(name: string, number: number, payload: unknown, answer: boolean): void {
    const { bus, cluster } = this.#dependencies
    const message: CallMessage = { from: cluster.self, life: this.#life, number, payload, answer }
    bus.publish(topic(name), encode(message))
  }

  async #answer(
    { from, life, number, payload, answer }: CallMessage,
    answering: RequestHandler,
  ): Promise<void> {
    const value = await answering(payload, from)
    if (!answer) return
    const message: AnswerMessage = { from: this.#dependencies.cluster.self, life, number, value }
    this.#dependencies.bus.publish(answerTopic(from), encode(message))
  }

  #hearAnswer({ from, life, number, value }: AnswerMessage): void {
    const asked = life === this.#life ? this.#asked.get(number) : undefined
    if (asked === undefined) return
    asked.answers.set(from, value)
    asked.check()
  }
}

const encode = (message: CallMessage | AnswerMessage): Uint8Array => Buffer.from(JSON.stringify(message))

/** Returns whether the value has the fields of every message. */
function isSent(value: unknown): value is Pick<CallMessage, 'from' | 'life' | 'number'> {
  if (!isJsonObject(value)) return false
  const { from, life, number } = value
  return typeof from === 'string' && typeof life === 'string' && Number.isFinite(number)
}
