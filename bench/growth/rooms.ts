import { weft } from '../load/contenders.ts'
import { enter, enterAll, sleep } from '../load/typing.ts'
import { cpuOfTree, residentBytes } from '../support/cpu.ts'
import { round, thousands } from '../support/report.ts'
import { temporaryDirectory } from '../support/server.ts'
import { storeTexts } from '../support/stored.ts'
import { answer, characters, documentOf } from '../sync/connect.ts'

const settleMs = 2_000
const lookEveryMs = 20
/** Rooms are closed as soon as they are left. */
const server = weft('weft', { WEFT_IDLE_UNLOAD_SECONDS: '0', WEFT_CALLS_PER_ADDRESS_PER_SECOND: '0' })

export const roomsHeader = ['rooms', 'opened/s', 'CPU µs an open', 'KB a room', 'closed/s']

/** One socket into each of so many rooms that are on the disk; then all of them leave. */
export async function roomsRow(rooms: number): Promise<readonly string[]> {
  const data = temporaryDirectory()
  // The first start makes the directory.
  await (await server.start(data)).stop()
  await storeTexts(data, 'bench', rooms, documentOf, characters)
  const running = await server.start(data)
  await sleep(settleMs)
  const [cpu, bytes, start] = [cpuOfTree(running.pid), residentBytes(running.pid), performance.now()]
  const sockets = await enterAll(rooms, async (index) => {
    const socket = await enter(running, documentOf(index))
    await answer(running, socket, documentOf(index))
    return socket
  })
  const [openMs, openCpu] = [performance.now() - start, cpuOfTree(running.pid) - cpu]
  await sleep(settleMs)
  const openBytes = residentBytes(running.pid) - bytes
  const leaving = performance.now()
  for (const socket of sockets) socket.end()
  await allClosed(new URL('/metrics', running.url('').replace('ws:', 'http:')))
  const closeMs = performance.now() - leaving
  await running.kill()
  return [
    thousands(rooms),
    thousands(rooms / (openMs / 1000)),
    thousands(openCpu / rooms),
    round(openBytes / 1024 / rooms, 1),
    thousands(rooms / (closeMs / 1000)),
  ]
}

async function allClosed(metrics: URL): Promise<void> {
  while (!/^weft_documents_open 0$/m.test(await (await fetch(metrics)).text())) await sleep(lookEveryMs)
}
