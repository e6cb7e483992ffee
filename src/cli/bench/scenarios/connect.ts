import { setTimeout as sleep } from 'node:timers/promises'
import * as Y from 'yjs'
import type { Contender } from '../contender.ts'
import { cpuOfTree, residentBytes } from '../cpu.ts'
import { answer, enter, enterAll } from '../entering.ts'
import { type Scale, type Scenario, waitMs } from '../scenario.ts'

/** Length of each document in characters. */
export const characters = 1_000
const full = { rooms: 1_000, sockets: 2_000 }
const smoke = { rooms: 10, sockets: 20 }
/** Time in ms in which all servers write their data and finish their start. */
const settleMs = 2_000

export const documentOf = (index: number): string => `document-${index}`

/** Writes the text of each room, and then stops the server. */
async function fill(contender: Contender, data: string, rooms: number, settle: number): Promise<void> {
  const doc = new Y.Doc()
  doc.getText('content').insert(0, 'lorem ipsum '.repeat(characters).slice(0, characters))
  const update = Y.encodeStateAsUpdate(doc)
  const server = await contender.start(data)
  await enterAll(rooms, async (index) => {
    const socket = await enter(server, documentOf(index))
    socket.send(server.dialect.update(documentOf(index), update))
    await answer(server, socket, documentOf(index))
    return socket
  })
  await sleep(settle)
  await server.stop()
}

/** Scenario with many stored rooms. Two clients connect to each room. */
export const connecting: Scenario<'cpu' | 'memory'> = {
  name: `${full.sockets} sockets on ${full.rooms} rooms of ${characters} characters`,
  needsStore: false,
  figures: {
    cpu: { label: 'CPU µs a connect', digits: 0, better: 'less' },
    memory: { label: 'MB over an empty server', digits: 1, better: 'less' },
  },
  async run(contender, data, scale: Scale) {
    const { rooms, sockets: count } = scale.size === 'full' ? full : smoke
    const settle = waitMs(scale, settleMs)
    if (contender.keeps) await fill(contender, data, rooms, settle)
    const server = await contender.start(data)
    await sleep(settle)
    const [cpu, bytes] = [cpuOfTree(server.pid), residentBytes(server.pid)]
    await enterAll(count, async (index) => {
      const document = documentOf(index % rooms)
      const socket = await enter(server, document)
      if (contender.keeps) await answer(server, socket, document)
      return socket
    })
    await sleep(settle)
    const figures = {
      cpu: (cpuOfTree(server.pid) - cpu) / count,
      memory: (residentBytes(server.pid) - bytes) / 2 ** 20,
    }
    await server.kill()
    return figures
  },
}
