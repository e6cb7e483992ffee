import { randomUUID } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { readJsonOrNull } from '../base/json.ts'
import * as s from '../base/schema.ts'
import { matchesSchema } from '../base/validation.ts'
import type { Bus, Cluster } from './engine.ts'

/**
 * Maximum milliseconds to wait for the replies to a request. A node that has not replied by then has died, or
 * its reply was lost.
 */
const answerMs = 250
const topic = (name: string): string => `nodes.call.${name}`
const answerTopic = (node: string): string => `nodes.answer.${node}`

const messageMembers = {
  from: s.string,
  /**
   * Id of the process that sent the request. It distinguishes equal numbers, because the numbers of a node
   * start again after its restart.
   */
  life: s.string,
  number: s.number,
}
const callSchema = s.object(
  { ...messageMembers, payload: s.unknown },
  {
    /** The node that handles the request. Absent: all nodes. */
    to: s.string,
  },
)
const answerSchema = s.object({ ...messageMembers, value: s.unknown })

type CallMessage = s.TypeOf<typeof callSchema>
type AnswerMessage = s.TypeOf<typeof answerSchema>

/** A request to one node, or to all other nodes (`to` is undefined). */
interface SentRequest extends Pick<CallMessage, 'payload' | 'to'> {
  readonly name: string
}

interface PendingRequest {
  readonly answered: Set<string>
  /** Stores the value of a reply if the value matches the schema. */
  readonly keep: (from: string, value: unknown) => void
  readonly check: () => void
}

/**
 * Sends requests to other nodes over the bus, and handles their requests. A missing reply is not an error,
 * because a node may die at any time.
 */
export class NodeRequests {
  readonly #bus: Bus
  readonly #cluster: Cluster
  readonly #clock: Clock
  readonly #life = randomUUID()
  readonly #pending = new Map<number, PendingRequest>()
  readonly #ends: (() => void)[] = []
  #number = 0

  constructor(bus: Bus, cluster: Cluster, clock: Clock) {
    this.#bus = bus
    this.#cluster = cluster
    this.#clock = clock
    this.#ends.push(
      bus.subscribe(answerTopic(cluster.self), (message) => {
        const answer = readJsonOrNull(answerSchema, message)
        if (answer !== null) this.#receiveAnswer(answer)
      }),
      // A node that has left the list does not reply.
      cluster.on('change', () => {
        for (const { check } of this.#pending.values()) check()
      }),
    )
  }

  /**
   * Registers the handler for requests with this name from other nodes. A malformed request, possibly from
   * another version of Weft, gets no reply.
   * @param answering returns the reply, which must be a JSON value
   */
  answer<Payload>(name: string, schema: s.SchemaOf<Payload>, answering: (payload: Payload) => unknown): void {
    const listener = (message: Uint8Array): void => {
      const call = readJsonOrNull(callSchema, message)
      const { self } = this.#cluster
      if (call === null || call.from === self || (call.to ?? self) !== self) return
      const { payload } = call
      if (!matchesSchema(schema, payload)) return
      // If the handler fails, the request gets no reply.
      this.#answer(call, () => answering(payload)).catch(() => {})
    }
    this.#ends.push(this.#bus.subscribe(topic(name), listener))
  }

  /**
   * Sends a request to all other nodes. Resolves with the replies that arrive in time and match the schema,
   * by node. Resolves immediately if there are no other nodes.
   */
  ask<Answer>(
    name: string,
    payload: unknown,
    schema: s.SchemaOf<Answer>,
  ): Promise<ReadonlyMap<string, Answer>> {
    return this.#ask({ name, payload }, schema, answerMs)
  }

  /**
   * Sends a request to one node, which may take `waitMs` milliseconds. Resolves with null if no reply that matches
   * the schema arrives in this time, and immediately if the node is not in the list.
   */
  async askNode<Answer>(
    request: Required<SentRequest>,
    schema: s.SchemaOf<Answer>,
    waitMs: number,
  ): Promise<Answer | null> {
    return (await this.#ask(request, schema, waitMs)).get(request.to) ?? null
  }

  #ask<Answer>(
    request: SentRequest,
    schema: s.SchemaOf<Answer>,
    waitMs: number,
  ): Promise<ReadonlyMap<string, Answer>> {
    const number = ++this.#number
    const answers = new Map<string, Answer>()
    const answered = new Set<string>()
    const keep = (from: string, value: unknown): void => {
      if (matchesSchema(schema, value)) answers.set(from, value)
    }
    const asked = (): readonly string[] => this.#others().filter((node) => (request.to ?? node) === node)
    return new Promise((resolve) => {
      const finish = (): void => {
        cancel()
        this.#pending.delete(number)
        resolve(answers)
      }
      const check = (): void => {
        if (asked().every((node) => answered.has(node))) finish()
      }
      const cancel = this.#clock.after(waitMs, finish)
      this.#pending.set(number, { answered, keep, check })
      if (asked().length > 0) this.#publish(request, number)
      check()
    })
  }

  close(): void {
    for (const end of this.#ends) end()
  }

  /** Returns the nodes from which replies are expected; none while the bus is disconnected. */
  #others(): readonly string[] {
    return this.#bus.isConnected ? this.#cluster.nodes().filter((node) => node !== this.#cluster.self) : []
  }

  #publish({ name, ...request }: SentRequest, number: number): void {
    const message: CallMessage = { ...request, from: this.#cluster.self, life: this.#life, number }
    this.#bus.publish(topic(name), encode(message))
  }

  async #answer({ from, life, number }: CallMessage, answering: () => unknown): Promise<void> {
    const value = await answering()
    const message: AnswerMessage = { from: this.#cluster.self, life, number, value }
    this.#bus.publish(answerTopic(from), encode(message))
  }

  #receiveAnswer({ from, life, number, value }: AnswerMessage): void {
    const request = life === this.#life ? this.#pending.get(number) : undefined
    if (request === undefined) return
    request.answered.add(from)
    request.keep(from, value)
    request.check()
  }
}

const encode = (message: CallMessage | AnswerMessage): Uint8Array => Buffer.from(JSON.stringify(message))
