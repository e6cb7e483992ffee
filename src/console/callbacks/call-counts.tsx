import { useState } from 'preact/hooks'
import { Scrape } from '../../core/metrics/scrape.ts'
import { useApi, useAsync } from '../api/hooks.ts'
import { useInterval } from '../api/use-interval.ts'
import { href } from '../routing/route.ts'
import { DefinitionList } from '../ui/definition-list.tsx'
import { EmptyNotice, ErrorNotice, Notice } from '../ui/notice.tsx'
import { Table } from '../ui/table.tsx'
import { resultMeanings } from './callback-settings.ts'

const refreshMs = 5_000

interface CallCountsProps {
  readonly name: string
  /** Number of test calls. After each of them, the metrics are read again. */
  readonly tests?: number
}

/** Shows the calls of a callback by result, their duration and its circuit breaker, from the metrics of the server. */
export function CallCounts({ name, tests = 0 }: CallCountsProps) {
  const api = useApi()
  const [last, setLast] = useState<Scrape | null>(null)
  const { error, reload } = useAsync(async () => {
    const scrape = new Scrape(await api.metrics(), Date.now())
    setLast(scrape)
    return scrape
  }, `${tests}`)
  useInterval(refreshMs, reload)
  return (
    <section class="card spaced" aria-label={`Calls of ${name}`}>
      <h2>Calls</h2>
      <p class="hint">
        On this server since its start, for all API keys.
        {name === 'store'
          ? ' Each attempt counts.'
          : ' In a cluster, each server has its own circuit breakers.'}
      </p>
      {error?.status === 'UNAUTHENTICATED' ? (
        <Notice>
          This server shows its metrics only with the metrics token. Enter the token in the{' '}
          <a href={href('overview')}>Overview</a>.
        </Notice>
      ) : (
        <ErrorNotice error={error} />
      )}
      {error === null && last !== null && <Counts name={name} scrape={last} />}
    </section>
  )
}

function Counts({ name, scrape }: { readonly name: string; readonly scrape: Scrape }) {
  const ofCallback = (series: string) => scrape.by(series, 'callback').get(name) ?? null
  const calls = [...scrape.by('weft_callback_calls_total', 'result', { callback: name })]
  const sum = ofCallback('weft_callback_duration_seconds_sum')
  const count = ofCallback('weft_callback_duration_seconds_count')
  const paused = ofCallback('weft_callback_breakers_open')
  const average = sum === null || count === null || count === 0 ? null : Math.round((1000 * sum) / count)
  return (
    <>
      <DefinitionList
        of={[
          ['Circuit breaker', paused === null ? null : <Breaker key="" paused={paused} />],
          ['Average time', average === null ? null : `${average.toLocaleString()} ms`],
        ]}
      />
      {calls.length === 0 ? (
        <EmptyNotice>No calls yet.</EmptyNotice>
      ) : (
        <Table
          caption={`Calls of ${name} by result`}
          items={calls}
          keyOf={([result]) => result}
          columns={[
            { title: 'Result', cell: ([result]) => result },
            { title: 'Calls', cell: ([, value]) => value.toLocaleString(), numeric: true },
            { title: 'Meaning', cell: ([result]) => resultMeanings[result] ?? '' },
          ]}
        />
      )}
    </>
  )
}

const Breaker = ({ paused }: { readonly paused: number }) =>
  paused === 0 ? (
    <span class="tag good">closed</span>
  ) : (
    <>
      <span class="tag bad">open</span> {paused === 1 ? 'for 1 URL' : `for ${paused.toLocaleString()} URLs`}
    </>
  )
