import { setTimeout as sleep } from 'node:timers/promises'
import type { Running } from '../../src/cli/bench/contender.ts'
import { cpuOfTree, residentBytes } from '../../src/cli/bench/cpu.ts'
import { answer, characters, documentOf, enter, enterAll } from '../../src/cli/bench/entering.ts'
import { type LoadSize, waitMs } from '../../src/cli/bench/scenario.ts'
import { weft } from '../load/contenders.ts'
import { temporaryDirectory, unlimitedCalls } from '../support/server.ts'
import { storeTexts } from '../support/stored.ts'
import type { Curve } from './curve.ts'

const settleMs = 1_000
const lookEveryMs = 20
/** Server whose rooms close as soon as their clients disconnect. */
const server = weft('weft', { ...unlimitedCalls, WEFT_IDLE_UNLOAD_SECONDS: '0' })

/** Starts a server with the given number of stored documents. No document is open. */
async function stored(rooms: number, scale: LoadSize): Promise<Running> {
  const data = temporaryDirectory()
  // The first start creates the data directory.
  await (await server.start(data)).stop()
  await storeTexts(data, 'bench', rooms, documentOf, characters)
  const running = await server.start(data)
  await sleep(waitMs(scale, settleMs))
  return running
}

async function allClosed(metrics: URL): Promise<void> {
  while (!/^weft_rooms_open 0$/m.test(await (await fetch(metrics)).text())) await sleep(lookEveryMs)
}

/** Opens one socket in each of the stored rooms, and then closes all sockets. Measures both steps. */
async function measure(rooms: number, scale: LoadSize): Promise<readonly number[]> {
  const running = await stored(rooms, scale)
  const [cpu, bytes, start] = [cpuOfTree(running.pid), residentBytes(running.pid), performance.now()]
  const sockets = await enterAll(rooms, async (index) => {
    const socket = await enter(running, documentOf(index))
    await answer(running, socket, documentOf(index))
    return socket
  })
  const [openMs, openCpu] = [performance.now() - start, cpuOfTree(running.pid) - cpu]
  await sleep(waitMs(scale, settleMs))
  const openBytes = residentBytes(running.pid) - bytes
  const [leaving, leavingCpu] = [performance.now(), cpuOfTree(running.pid)]
  for (const socket of sockets) socket.end()
  await allClosed(new URL('/metrics', running.url('').replace('ws:', 'http:')))
  const [closeMs, closeCpu] = [performance.now() - leaving, cpuOfTree(running.pid) - leavingCpu]
  await running.kill()
  return [openMs * 1000, openCpu, openBytes / 1024, closeMs * 1000, closeCpu]
}

export const rooms = (sizes: readonly number[], scale: LoadSize): Curve => ({
  title: 'rooms opened, 50 at once, and closed',
  unit: 'rooms',
  figures: [
    { label: 'opened: µs a room', digits: 0, of: 'unit' },
    { label: 'CPU µs', digits: 0, of: 'unit' },
    { label: 'KB', digits: 1, of: 'unit' },
    { label: 'closed: µs a room', digits: 0, of: 'unit' },
    { label: 'CPU µs', digits: 0, of: 'unit' },
  ],
  sizes,
  measure: (size) => measure(size, scale),
})
