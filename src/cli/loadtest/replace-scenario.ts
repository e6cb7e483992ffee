import { HttpClient } from './http-client.ts'
import { quantile } from './quantile.ts'
import type { Scenario } from './scenario.ts'
import type { TargetServer } from './target-server.ts'

const callerCount = 8
const words = 150

/**
 * Scenario with backends that replace texts. Each backend has its own document, and changes one word in each
 * call.
 */
export const replaceScenario: Scenario = {
  name: `REST, ${callerCount} callers who replace 1 KB of text`,
  share: 0.25,
  async run(target, seconds) {
    const callers = Array.from({ length: callerCount }, () => new HttpClient(target))
    const times: number[] = []
    const start = performance.now()
    const untilMs = start + seconds * 1000
    await Promise.all(callers.map((caller, who) => replaceUntil(caller, target, who, untilMs, times)))
    const perSecond = times.length / ((performance.now() - start) / 1000)
    for (const caller of callers) caller.end()
    return [
      { key: 'callsPerSecond', label: 'calls', value: perSecond, unit: '/s' },
      { key: 'callP50', label: 'p50 of a call', value: quantile(times, 0.5), unit: 'ms' },
      { key: 'callP99', label: 'p99 of a call', value: quantile(times, 0.99), unit: 'ms' },
    ]
  },
}

async function replaceUntil(
  caller: HttpClient,
  { organizationId }: TargetServer,
  who: number,
  untilMs: number,
  times: number[],
): Promise<void> {
  const address = { organizationId, documentId: `replaced-${who}`, editorId: 'main', type: 'text' }
  for (let round = 0; round === 0 || performance.now() < untilMs; round++) {
    const data = { ...address, data: textOf(round), upsert: true }
    const from = performance.now()
    await caller.post('/v2/crdt/update', Buffer.from(JSON.stringify({ data })))
    times.push(performance.now() - from)
  }
}

/**
 * Returns the text that is sent in a round. Compared with the previous round, one word changes, and one
 * changes back.
 */
const textOf = (round: number): string =>
  Array.from({ length: words }, (_, index) => (index === round % words ? `w${round}` : 'lorem')).join(' ')
