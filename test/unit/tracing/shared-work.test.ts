import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/core/base/clock.ts'
import { currentTrace, runTraced } from '../../../src/core/base/current-trace.ts'
import { DebounceWindows } from '../../../src/core/events/debounce-windows.ts'
import { SlowTransfers } from '../../../src/core/quota/slow-transfers.ts'
import { TickScheduler } from '../../../src/core/rooms/room/tick-scheduler.ts'

const context = {
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  isSampled: true,
  traceState: 'secret=1',
  isRemote: true,
}

/** Work that a traced call starts, and that later serves others. It must call `report` in its shared part. */
const shared: Readonly<Record<string, (report: () => void) => void>> = {
  'a timer of the clock': (report) => void systemClock.after(1, report),
  'the end of a tick': (report) => new TickScheduler().add({ workspaceId: 'ws', endTick: report }),
  'the work after the broadcasts': (report) => new TickScheduler().follow({ followUp: report }),
  'the end of a window that another window ends': (report) => {
    const windows = new DebounceWindows<string>(systemClock, 60_000, report, {
      endAt: (now) => now + 60_000,
      max: 1,
    })
    windows.begin('of another tenant', 'x')
    windows.begin('of this call', 'x')
  },
  'the check of transfers': (report) =>
    new SlowTransfers(1).add({
      get isPaused() {
        report()
        return true
      },
      transferredBytes: 0,
      tooSlow: () => {},
    }),
}

describe('work that serves several callers', () => {
  for (const [name, start] of Object.entries(shared))
    it(`[OTEL-15] ${name} does not run in the trace of the call that started it`, async () => {
      const found = await new Promise((resolve) => {
        runTraced({ context, spans: null }, () => start(() => resolve(currentTrace() ?? 'none')))
      })
      expect(found).toBe('none')
    })
})
