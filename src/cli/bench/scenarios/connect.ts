import { setTimeout as sleep } from 'node:timers/promises'
import { during, serverMemory } from '../cpu.ts'
import { characters, documentOf, enter, enterAll, fill, join, newText, textArrives } from '../entering.ts'
import type { LoadSocket } from '../load-socket.ts'
import { quantile } from '../measure.ts'
import { type Figure, over, p99, per, type Scale, type Scenario, waitMs } from '../scenario.ts'

/** Time in ms in which all servers write their data and finish their start. */
const settleMs = 2_000

const cpu: Figure = { label: 'CPU µs a connect', digits: 0, better: 'less' }
const rate: Figure = { label: 'connects/s', digits: 0, better: 'more' }
const memory: Figure = { label: 'KB a room', digits: 0, better: 'less' }

const megabytes = (bytes: number | undefined): number | undefined => per(bytes, 2 ** 20)

/** Returns the names of stored documents. */
const documentsOf = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => documentOf(index))

/** Scenario with many stored rooms. Two clients connect to each room. */
export const connecting: Scenario<'cpu' | 'rate' | 'memory'> = {
  key: 'connect',
  name: `2,000 sockets on 1,000 rooms of ${characters} characters`,
  shows:
    'The cost of opening stored documents, until all text has arrived. A server that was already running may still have them in memory.',
  needs: 'url',
  figures: { cpu, rate, memory: { label: 'MB over an empty server', digits: 1, better: 'less' } },
  async run(contender, data, scale: Scale) {
    const rooms = scale.size === 'full' ? 1_000 : 10
    const settle = waitMs(scale, settleMs)
    const documents = documentsOf(rooms)
    let server = await contender.start(data)
    const written = contender.keeps ? await fill(server, documents, settle) : null
    if (contender.isOurs) {
      await server.stop()
      server = await contender.start(data)
      await sleep(settle)
    }
    const before = serverMemory(server)
    const usage = await during(server, () =>
      enterAll(rooms * 2, async (index) => {
        const document = documents[index % rooms] as string
        const socket = await enter(server, document)
        if (written !== null) await textArrives(server, socket, document, written)
        return socket
      }),
    )
    await sleep(settle)
    const grown = megabytes(over(serverMemory(server), before))
    await server.kill()
    return {
      figures: {
        cpu: per(usage.microseconds, rooms * 2),
        rate: per(rooms * 2, usage.seconds),
        memory: grown,
      },
      usage,
    }
  },
}

/** Sockets for each room. */
const perRoom = 2

/** Two clients join each of many rooms that do not exist, as the first users of a new product do. */
const connectingToNew = (
  key: string,
  name: string,
  writes: boolean,
): Scenario<'cold' | 'warm' | 'rate' | 'memory' | 'later'> => ({
  key,
  name: `2,000 and then 6,000 sockets on new rooms, ${name}`,
  shows: 'The cost of documents that do not exist, before and after the code of the server is compiled.',
  needs: 'url',
  figures: {
    cold: { ...cpu, label: `${cpu.label}, first 2,000` },
    warm: { ...cpu, label: `${cpu.label}, next 6,000` },
    rate: { ...rate, label: `${rate.label}, next 6,000` },
    memory: { ...memory, label: `${memory.label}, first` },
    later: { ...memory, label: `${memory.label}, next` },
  },
  async run(contender, data, scale: Scale) {
    const [cold, warm] = scale.size === 'full' ? [2_000, 6_000] : [20, 60]
    const settle = waitMs(scale, settleMs)
    const server = await contender.start(data)
    await sleep(settle)
    const phase = async (from: number, count: number) => {
      const before = serverMemory(server)
      const usage = await during(server, async () => {
        await enterAll(count, async (index) => {
          const document = `new-${Math.floor((from + index) / perRoom)}`
          const socket = await join(server, document)
          if (writes) socket.send(server.dialect.update(document, newText().update))
          return socket
        })
        // A server may store later what it has received, so the pause is a part of the CPU time.
        await sleep(settle)
      })
      const bytes = per(over(serverMemory(server), before), count / perRoom)
      return { usage, cpu: per(usage.microseconds, count), kilobytes: per(bytes, 1024) }
    }
    const [first, next] = [await phase(0, cold), await phase(cold, warm)]
    await server.kill()
    return {
      figures: {
        cold: first.cpu,
        warm: next.cpu,
        rate: per(warm, next.usage.seconds - settle / 1000),
        memory: first.kilobytes,
        later: next.kilobytes,
      },
      usage: next.usage,
    }
  },
})

export const connectingToNewRooms = [
  connectingToNew('connect-new', 'without writes', false),
  connectingToNew('connect-new-write', `each writes ${characters} characters`, true),
]

/** Scenario in which all clients lose their connections at once, and come back at once. */
export const reconnectStorm: Scenario<'all' | 'p99' | 'cpu'> = {
  key: 'storm',
  name: '1,000 clients on 200 rooms come back at once',
  shows:
    'The time until all users work again, after a restart of the server if the load generator has started it. The clients do not wait between attempts.',
  needs: 'url',
  figures: { all: { label: 'ms until all are back', digits: 0, better: 'less' }, p99, cpu },
  async run(contender, data, scale: Scale) {
    const [count, rooms] = scale.size === 'full' ? [1_000, 200] : [20, 4]
    const documents = documentsOf(rooms)
    let server = await contender.start(data)
    const written = contender.keeps ? await fill(server, documents, waitMs(scale, settleMs)) : null
    const documentOf = (index: number): string => documents[index % rooms] as string
    const sockets = await enterAll(count, (index) => join(server, documentOf(index)))
    if (contender.isOurs) {
      await server.stop()
      server = await contender.start(data)
    } else for (const socket of sockets) socket.end()
    const times: number[] = []
    const back = async (index: number): Promise<LoadSocket> => {
      const start = performance.now()
      const socket = await enter(server, documentOf(index))
      if (written !== null) await textArrives(server, socket, documentOf(index), written)
      times.push(performance.now() - start)
      return socket
    }
    const usage = await during(server, () => enterAll(count, back, count))
    await server.kill()
    return {
      figures: { all: usage.seconds * 1000, p99: quantile(times, 0.99), cpu: per(usage.microseconds, count) },
      usage,
    }
  },
}
