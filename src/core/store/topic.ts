import { readJson } from '../base/json.ts'
import type { SchemaOf } from '../base/schema.ts'
import type { Bus } from './engine.ts'

/** Messages of one kind on the bus, as JSON. */
export class Topic<Message extends object> {
  readonly name: string
  readonly #schema: SchemaOf<Message>

  constructor(name: string, schema: SchemaOf<Message>) {
    this.name = name
    this.#schema = schema
  }

  publish(bus: Pick<Bus, 'publish'>, message: Message): void {
    bus.publish(this.name, Buffer.from(JSON.stringify(message)))
  }

  /** Subscribes to the messages, and rejects malformed ones. Returns the function that ends the subscription. */
  subscribe(bus: Pick<Bus, 'subscribe'>, listener: (message: Message) => void): () => void {
    return bus.subscribe(this.name, (message) => listener(readJson(this.#schema, message)))
  }
}
