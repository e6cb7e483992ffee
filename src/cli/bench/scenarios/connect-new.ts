import { setTimeout as sleep } from 'node:timers/promises'
import * as Y from 'yjs'
import type { Running } from '../contender.ts'
import { cpuOfTree, residentBytes } from '../cpu.ts'
import { answer, enter, enterAll } from '../entering.ts'
import { type Figure, type Scale, type Scenario, waitMs } from '../scenario.ts'
import { characters } from './connect.ts'

/** Sockets for each room. */
const perRoom = 2
/** Number of sockets of the first phase, and of the second one, in which the code is compiled. */
const full = { cold: 2_000, warm: 6_000 }
const smoke = { cold: 20, warm: 60 }
/** Time for a server to store what it has received. */
const settleMs = 3_000

const cpu: Figure = { label: 'CPU µs a connect', digits: 0, better: 'less' }
const memory: Figure = { label: 'KB a room', digits: 0, better: 'less' }

interface Phase {
  readonly cpu: number
  readonly memory: number
}

/** Two clients join each of many rooms that do not exist, as the first users of a new product do. */
function connectingToNew(name: string, writes: boolean): Scenario<'cold' | 'warm' | 'memory' | 'later'> {
  return {
    name: `${full.cold} and then ${full.warm} sockets on new rooms, ${name}`,
    needsStore: false,
    figures: {
      cold: { ...cpu, label: `${cpu.label}, first ${full.cold}` },
      warm: { ...cpu, label: `${cpu.label}, next ${full.warm}` },
      memory: { ...memory, label: `${memory.label}, first` },
      later: { ...memory, label: `${memory.label}, next` },
    },
    async run(contender, data, scale: Scale) {
      const counts = scale.size === 'full' ? full : smoke
      const settle = waitMs(scale, settleMs)
      const server = await contender.start(data)
      await sleep(settle)
      const join = async (from: number, count: number): Promise<Phase> => {
        const [usedBefore, bytesBefore] = [cpuOfTree(server.pid), residentBytes(server.pid)]
        await enterAll(count, (index) => joinRoom(server, from + index, contender.keeps, writes))
        await sleep(settle)
        return {
          cpu: (cpuOfTree(server.pid) - usedBefore) / count,
          memory: (residentBytes(server.pid) - bytesBefore) / (count / perRoom) / 1024,
        }
      }
      const cold = await join(0, counts.cold)
      const warm = await join(counts.cold, counts.warm)
      await server.kill()
      return { cold: cold.cpu, warm: warm.cpu, memory: cold.memory, later: warm.memory }
    },
  }
}

async function joinRoom(server: Running, index: number, keeps: boolean, writes: boolean) {
  const document = `new-${Math.floor(index / perRoom)}`
  const socket = await enter(server, document)
  if (keeps) await answer(server, socket, document)
  if (writes) socket.send(server.dialect.update(document, textOf()))
  return socket
}

/** Returns the update of a new client that has written a text. */
function textOf(): Uint8Array {
  const doc = new Y.Doc()
  doc.getText('content').insert(0, 'lorem ipsum '.repeat(characters).slice(0, characters))
  return Y.encodeStateAsUpdate(doc)
}

export const connectingToNewRooms = [
  connectingToNew(`each writes ${characters} characters`, true),
  connectingToNew('without writes', false),
]
