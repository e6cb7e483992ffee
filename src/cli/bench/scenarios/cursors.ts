import { setTimeout as sleep } from 'node:timers/promises'
import type { Contender } from '../contender.ts'
import { cpuOfTree } from '../cpu.ts'
import { enterRoom } from '../entering.ts'
import { Mover, moveAll } from '../mover.ts'
import { perDelivered, type Scale, type Scenario } from '../scenario.ts'

/**
 * Returns a scenario in which all clients of a room move their cursors.
 * @param perSecond number of moves per second of each client
 */
export const cursors = (name: string, clients: number, perSecond: number): Scenario<'cpu' | 'share'> => ({
  name,
  needsStore: false,
  figures: { cpu: perDelivered, share: { label: 'shown of all moves', digits: 2, better: 'more' } },
  async run(contender: Contender, data, { seconds }: Scale) {
    const server = await contender.start(data)
    const document = 'cursors'
    const sockets = await enterRoom(server, document, clients)
    const movers = sockets.map((socket, index) => new Mover(1_000 + index, socket, server.dialect, document))
    const stop = moveAll(movers, perSecond)
    await sleep(seconds * 1000)
    const shown = (): number => movers.reduce((sum, mover) => sum + mover.shown, 0)
    const moved = (): number => movers.reduce((sum, mover) => sum + mover.sent, 0)
    const [before, movedBefore, cpu] = [shown(), moved(), cpuOfTree(server.pid)]
    await sleep(seconds * 1000)
    const [delivered, sent, used] = [shown() - before, moved() - movedBefore, cpuOfTree(server.pid) - cpu]
    stop()
    await server.kill()
    return { cpu: used / delivered, share: delivered / (sent * (clients - 1)) }
  },
})
