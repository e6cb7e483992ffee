import type { WeftSocketOptions } from '../../../src/client/weft-socket.ts'
import { eventually } from '../clients/clients.ts'
import { pageSocket } from '../clients/page-sockets.ts'
import { type Dialect, dialects, type Host, type Person } from '../clients/protocol-clients.ts'
import type { Random } from '../data/random-doc.ts'

/** Stock clients whose sockets can be replaced: three versions of y-websocket, then three of Hocuspocus. */
export const stockClients = dialects.filter(({ name }) => name !== 'Y-Sweet')

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Minimum number of marks of each client in one call of `type`. */
const marksMin = 6

/** A user who types marks, each of which exists once. */
interface Marker {
  readonly name: string
  readonly person: Person
  /** Code and reason of each close of a connection. */
  readonly closes: readonly string[]
  typed: number
}

export interface CrowdOptions extends WeftSocketOptions {
  /** True if all clients are on one page. Default: each one has a page of its own. */
  readonly onOnePage?: boolean
  /** Creates the function `fetch` of a page. Default: the one of the platform. */
  readonly newFetch?: () => typeof fetch
  /** Maximum time in ms between two marks of a client. Default: 170. */
  readonly pauseMs?: number
  /** Default: one client of each protocol and version. */
  readonly clients?: readonly Dialect[]
}

/** The text that all clients have after everything has arrived. */
export interface Converged {
  readonly text: string
  /** Number of marks that the clients typed. */
  readonly marks: number
  /** Number of marks that are not in the text. */
  readonly lost: number
  /** Number of marks that are in the text again. */
  readonly doubled: number
}

/** Stock clients on one document, over the class of sockets of the server. */
export class Crowd {
  readonly #markers: readonly Marker[]
  readonly #random: Random

  readonly #pauseMs: number

  private constructor(markers: readonly Marker[], random: Random, pauseMs: number) {
    this.#markers = markers
    this.#random = random
    this.#pauseMs = pauseMs
  }

  /** Opens the clients, and waits until each has synced. */
  static async open(
    host: Pick<Host, 'url' | 'wsUrl'>,
    documentId: string,
    tokenOf: (user: string) => Promise<string>,
    random: Random,
    { onOnePage = false, clients = stockClients, newFetch, pauseMs = 170, ...options }: CrowdOptions = {},
  ): Promise<Crowd> {
    const newPage = () => pageSocket({ ...options, ...(newFetch && { fetch: newFetch() }) })
    const shared = onOnePage ? await newPage() : null
    const markers = await Promise.all(
      clients.map(async (dialect, index) => {
        const name = `${dialect.name} ${index}`
        const closes: string[] = []
        const Page = shared ?? (await newPage())
        class Socket extends Page {
          constructor(url: string) {
            super(url)
            this.addEventListener('close', (event) => {
              const { code, reason } = event as CloseEvent
              closes.push(`${code} ${reason}`)
            })
          }
        }
        const person = await dialect.open({ ...host, Socket }, documentId, await tokenOf(name))
        person.awareness.setLocalStateField('name', name)
        return { name, person, closes, typed: 0 }
      }),
    )
    return new Crowd(markers, random, pauseMs)
  }

  /**
   * All clients type at random times, between the marks that they have received: for a time, and each at least
   * `marksMin` marks, because a busy machine types slowly.
   */
  async type(ms: number): Promise<void> {
    const untilMs = Date.now() + ms
    await Promise.all(
      this.#markers.map(async (marker, index) => {
        const until = marker.typed + marksMin
        while (Date.now() < untilMs || marker.typed < until) {
          const { text } = marker.person
          const at = this.#random.below(2) === 0 ? 0 : text.length
          text.insert(at, `<${index}:${marker.typed}>`)
          marker.typed += 1
          await sleep(20 + this.#random.below(this.#pauseMs - 20))
        }
      }),
    )
  }

  /**
   * Waits until all clients have the same text.
   * @throws Error if that does not happen within a minute
   */
  async converge(): Promise<Converged> {
    const texts = (): string[] => this.#markers.map(({ person }) => person.text.toString())
    const expected = this.#markers.flatMap(({ typed }, index) =>
      Array.from({ length: typed }, (_, number) => `<${index}:${number}>`),
    )
    const marksIn = (text: string): string[] => text.match(/<\d+:\d+>/g) ?? []
    const state = (): unknown =>
      this.#markers.map(({ name, person, closes }) => ({
        client: name,
        marksOfEach: this.#markers.map(
          ({ typed }, index) =>
            `${marksIn(person.text.toString()).filter((mark) => mark.startsWith(`<${index}:`)).length} of ${typed}`,
        ),
        isUnsaved: person.isUnsaved(),
        closes: closes.slice(-3),
      }))
    await eventually(() => texts().every((text) => marksIn(text).length >= expected.length), state)
    await eventually(() => new Set(texts()).size === 1, state)
    const [text = ''] = texts()
    const found = marksIn(text)
    return {
      text,
      marks: expected.length,
      lost: expected.filter((mark) => !found.includes(mark)).length,
      doubled: found.length - new Set(found).size,
    }
  }

  /** Waits until each client shows exactly the clients that are present. */
  async showsEveryone(): Promise<void> {
    const present = this.#markers.map(({ name }) => name).toSorted()
    const seen = (): unknown[][] =>
      this.#markers.map(({ person }) =>
        [...person.awareness.getStates().values()]
          .map((state) => (state as { name?: string }).name)
          .toSorted(),
      )
    await eventually(
      () => seen().every((names) => names.join() === present.join()),
      () => [present, seen()],
    )
  }

  /** Closes the first client. Returns the others. */
  leaveFirst(): Crowd {
    const [first, ...others] = this.#markers
    first?.person.close()
    return new Crowd(others, this.#random, this.#pauseMs)
  }

  close(): void {
    for (const { person } of this.#markers) person.close()
  }
}
