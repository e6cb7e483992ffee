import { setTimeout as sleep } from 'node:timers/promises'
import { during } from '../cpu.ts'
import { enterRoom } from '../entering.ts'
import { Mover, moveAll } from '../mover.ts'
import { per, perDelivered, type Scale, type Scenario } from '../scenario.ts'

/**
 * Returns a scenario in which all clients of a room move their cursors.
 * @param perSecond number of moves per second of each client
 */
export const cursors = (clients: number, perSecond: number): Scenario<'cpu' | 'share'> => ({
  key: 'cursors',
  name: `${clients} cursors × ${perSecond}/s in one room`,
  shows:
    'The cost of presence. A server may leave out moves, but the last position of each cursor must arrive.',
  needs: 'url',
  figures: { cpu: perDelivered, share: { label: 'shown of all moves', digits: 2, better: 'more' } },
  async run(contender, data, { seconds }: Scale) {
    const server = await contender.start(data)
    const document = 'cursors'
    const sockets = await enterRoom(server, document, clients)
    const movers = sockets.map((socket, index) => new Mover(1_000 + index, socket, server.dialect, document))
    const stop = moveAll(movers, perSecond)
    await sleep(seconds * 1000)
    const shown = (): number => movers.reduce((sum, mover) => sum + mover.shown, 0)
    const moved = (): number => movers.reduce((sum, mover) => sum + mover.sent, 0)
    const [before, movedBefore] = [shown(), moved()]
    const usage = await during(server, () => sleep(seconds * 1000))
    const [delivered, sent] = [shown() - before, moved() - movedBefore]
    stop()
    for (const mover of movers) await mover.expectShown(movers)
    await server.kill()
    return {
      figures: { cpu: per(usage.microseconds, delivered), share: per(delivered, sent * (clients - 1)) },
      usage,
    }
  },
})
