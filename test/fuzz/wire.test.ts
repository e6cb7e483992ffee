import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { type Editor, eventually, RawClient, syncedEditor } from '../support/clients/clients.ts'
import { digest, isReadAlike } from '../support/data/digest.ts'
import { Random, randomHistory } from '../support/data/random-doc.ts'
import { seed } from '../support/data/seed.ts'
import { type FrameKind, type Hostile, sendFatal, sendHarmless } from '../support/faults/hostile-frames.ts'
import { type ServerProcess, startProcess } from '../support/servers/process.ts'
import { times } from '../support/time/full-run.ts'

const frames = Number(process.env.WEFT_FUZZ_FRAMES ?? times(4_000, 40_000))
const [framesPerBurst, burstsPerRoom, hostilesPerRoom, lanes] = [times(50, 200), 5, 2, 8]
const framesPerRoom = framesPerBurst * burstsPerRoom * hostilesPerRoom
const residentBytesMax = 512 * 2 ** 20

/** Number of sent frames by kind. */
const sent = new Map<FrameKind, number>()
const count = (kind: FrameKind): void => void sent.set(kind, (sent.get(kind) ?? 0) + 1)

const clocksOf = (doc: Y.Doc): string => Buffer.from(Y.encodeStateVector(doc)).toString('base64')

/** Returns whether `doc` has all items and deletions of `update`. */
function hasAll(doc: Y.Doc, update: Uint8Array): boolean {
  const { structs, ds } = Y.decodeUpdate(update)
  return (
    structs.every(({ id, length }) => Y.getState(doc.store, id.client) >= id.clock + length) &&
    [...ds.clients].every(([client, ranges]) =>
      ranges.every(({ clock, len }) => isDeleted(doc, client, clock, len)),
    )
  )
}

function isDeleted(doc: Y.Doc, client: number, from: number, length: number): boolean {
  const structs = doc.store.clients.get(client) ?? []
  return structs.every(
    ({ id, length: own, deleted }) => deleted || id.clock + own <= from || id.clock >= from + length,
  )
}

class Room {
  readonly #server: ServerProcess
  readonly #url: string
  readonly #randoms: readonly Random[]
  readonly #genuine: readonly Uint8Array[]
  /** Everything that any client was shown. */
  readonly #seen = new Y.Doc()
  readonly #shown: Uint8Array[] = []
  /** Delivered updates, without the answers to later state vectors, which would hide a missing delivery. */
  readonly #told = new Y.Doc()
  /** True while clients that read the shown updates at different times must agree. */
  isReadAlike = true
  #witness: RawClient | null = null

  constructor(server: ServerProcess, name: string, token: string, roomSeed: number) {
    this.#server = server
    this.#url = `/sync/acme/${name}/main?token=${token}`
    this.#randoms = Array.from({ length: hostilesPerRoom }, (_, at) => new Random(roomSeed * 10 + at))
    this.#genuine = randomHistory(roomSeed, 30).updates
  }

  async attack(): Promise<void> {
    const hostiles: (Hostile | null)[] = Array.from({ length: hostilesPerRoom }, () => null)
    for (let burst = 0; burst < burstsPerRoom; burst++) {
      await this.watch()
      const clocks = Y.decodeStateVector(Y.encodeStateVector(this.#seen))
      const running = hostiles.map(async (hostile, at) => {
        hostiles[at] = await this.#burst({
          ...(hostile ?? (await this.#hostile(at))),
          clocks: new Map(clocks),
        })
      })
      await Promise.all(running)
    }
    for (const hostile of hostiles) hostile?.socket.terminate()
  }

  /**
   * Reads the state of the document. A client that breaks it ends all connections, also that of the witness.
   */
  async watch(): Promise<void> {
    for (let attempt = 0; attempt < 5; attempt++) {
      const isNew = this.#witness === null
      this.#witness ??= await RawClient.connect(this.#server.wsUrl + this.#url)
      const witness = this.#witness
      const answered = await Promise.race([
        witness.roundTrip().then(() => true),
        witness.closed.then(() => false),
      ])
      for (const update of [...(isNew ? witness.offers() : []), ...witness.updates()])
        Y.applyUpdate(this.#told, update)
      this.#show([...witness.offers(), ...witness.updates()])
      witness.received.length = 0
      if (answered) return
      this.#witness = null
    }
    throw new Error('nobody can stay in this room')
  }

  #show(updates: readonly Uint8Array[]): void {
    for (const update of updates) Y.applyUpdate(this.#seen, update)
    this.#shown.push(...updates)
    this.isReadAlike &&= isReadAlike(this.#seen)
  }

  /**
   * A new client gets everything that clients were shown. Messages of closed connections may arrive a little
   * later.
   */
  async settle(): Promise<void> {
    let found = ''
    const describe = (): unknown => ({ seen: digest(this.#seen), found })
    await eventually(async () => {
      await this.watch()
      const newcomer = await replicaOf(this.#server, this.#url)
      found = digest(newcomer)
      if (clocksOf(this.#told) !== clocksOf(newcomer)) return false
      if (this.isReadAlike) return found === digest(this.#seen)
      return this.#shown.every((update) => hasAll(newcomer, update))
    }, describe)
    this.#witness?.end()
  }

  get url(): string {
    return this.#url
  }

  async #hostile(at: number): Promise<Omit<Hostile, 'clocks'>> {
    let connection: Socket | undefined
    const port = Number(new URL(this.#server.url).port)
    const createConnection = (): Socket => {
      connection = connect(port, '127.0.0.1')
      return connection
    }
    const { socket } = await RawClient.connect(this.#server.wsUrl + this.#url, {}, { createConnection })
    return {
      socket,
      connection: connection as Socket,
      random: this.#randoms[at] as Random,
      genuine: this.#genuine,
    }
  }

  /** Returns null if the connection was closed. */
  async #burst(hostile: Hostile): Promise<Hostile | null> {
    const { socket, random } = hostile
    const closed = new Promise<null>((resolve) => {
      if (socket.readyState === socket.CLOSED) resolve(null)
      socket.once('close', () => resolve(null))
    })
    const mark = String(random.below(2 ** 30))
    const survived = new Promise<Hostile>((resolve) => {
      socket.on('pong', (data) => data.toString() === mark && resolve(hostile))
    })
    for (let frame = 1; frame < framesPerBurst; frame++) count(sendHarmless(hostile))
    count(random.below(2) === 0 ? sendFatal(hostile) : sendHarmless(hostile))
    if (socket.readyState === socket.OPEN) socket.ping(mark)
    return Promise.race([closed, survived])
  }
}

async function replicaOf(server: ServerProcess, url: string): Promise<Y.Doc> {
  const client = await RawClient.connect(server.wsUrl + url)
  await client.roundTrip()
  client.end()
  const doc = new Y.Doc()
  for (const update of client.offers()) Y.applyUpdate(doc, update)
  return doc
}

async function digestsOf(server: ServerProcess, urls: readonly string[]): Promise<readonly string[]> {
  const digests: string[] = []
  for (const url of urls) digests.push(digest(await replicaOf(server, url)))
  return digests
}

/** Users in another room, who must not be affected. */
class Neighbors {
  readonly #editors: readonly [Editor, Editor]
  #typed = ''

  private constructor(editors: readonly [Editor, Editor]) {
    this.#editors = editors
  }

  static async open(server: ServerProcess, token: string): Promise<Neighbors> {
    const open = () => syncedEditor(server.wsUrl, 'acme/neighbors/main', token)
    return new Neighbors([await open(), await open()])
  }

  async type(): Promise<void> {
    const [writer, reader] = this.#editors
    this.#typed += `${this.#typed.length};`
    writer.text.insert(writer.text.length, this.#typed.slice(writer.text.length))
    await eventually(() => reader.text.toString() === this.#typed)
    expect(writer.provider.wsconnected).toBe(true)
  }

  close(): void {
    for (const editor of this.#editors) editor.close()
  }
}

async function metricsOf(server: ServerProcess): Promise<(name: string) => number> {
  const text = await (await fetch(`${server.url}/metrics`)).text()
  return (name) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
        ?.split(' ')
        .at(-1) ?? 0,
    )
}

const options = { WEFT_IDLE_UNLOAD_SECONDS: '0', WEFT_CALLS_PER_KEY: '0' }

it(`[FUZZ-1] when ${frames} hostile frames arrive, closes only the connections that sent them (seed ${seed})`, async () => {
  const data = await mkdtemp(join(tmpdir(), 'weft-wire-'))
  let server = await startProcess(data, options)
  try {
    const token = await server.token()
    const neighbors = await Neighbors.open(server, token)
    const urls: string[] = []
    let next = 0
    let residentBytes = 0
    const rooms = Math.ceil(frames / framesPerRoom)
    const lane = async (): Promise<void> => {
      while (next < rooms) {
        const roomSeed = seed + next++
        const room = new Room(server, `hostile-${roomSeed}`, token, roomSeed)
        try {
          await room.attack()
          await room.settle()
          if (room.isReadAlike) urls.push(room.url)
        } catch (error) {
          throw new Error(`WEFT_FUZZ_SEED=${roomSeed} WEFT_FUZZ_FRAMES=${framesPerRoom}`, { cause: error })
        }
        await neighbors.type()
        residentBytes = Math.max(residentBytes, (await metricsOf(server))('process_resident_memory_bytes'))
      }
    }
    await Promise.all(Array.from({ length: lanes }, lane))
    const metric = await metricsOf(server)
    console.info(Object.fromEntries(sent), { rooms, residentBytes, updates: metric('weft_updates_total') })
    expect(server.child.exitCode).toBeNull()
    expect(residentBytes).toBeLessThan(residentBytesMax)
    // Each room may become one that Yjs reads differently at different times, depending on the order of
    // frames.
    expect(urls.length).toBeGreaterThanOrEqual(rooms * 0.5)
    // Proves that frames pass the first checks.
    expect(metric('weft_updates_total')).toBeGreaterThan(frames / 20)
    neighbors.close()
    await eventually(async () => (await metricsOf(server))('weft_connections') === 0)
    const before = await digestsOf(server, urls)
    await server.end('SIGKILL')
    server = await startProcess(data, options)
    expect(await digestsOf(server, urls)).toEqual(before)
  } finally {
    await server.end('SIGKILL')
    await rm(data, { recursive: true, force: true, maxRetries: 20 })
  }
}, 600_000)
