import type { MetricPoint } from '../../capabilities/observability/metric-points.ts'
import type { RequestsGetDataItem } from '../../client/api/operation-types.ts'
import { requestColumns } from '../activity/recent-request.tsx'
import { useApi, useAsync, useInterval, useQuery } from '../api/hooks.ts'
import { useSessionValue } from '../api/session-values.ts'
import { verifyCredentials } from '../auth/authenticate.ts'
import { openPlayground } from '../playground/open-playground.ts'
import { href, type PageProps } from '../routing/route.ts'
import { Button, Select } from '../ui/controls.tsx'
import { EmptyNotice, ErrorNotice, Notice } from '../ui/notice.tsx'
import { Table } from '../ui/table.tsx'
import { Chart } from './chart.tsx'
import { chartSpecs } from './chart-specs.ts'
import { LiveLists } from './live-lists.tsx'
import { dayMs, hourMs } from './point-history.ts'
import { MetricsProblem, ServerStatus } from './server-status.tsx'
import { useMetrics } from './use-metrics.ts'

const shownMax = 5
const refreshMs = 10_000

/** Shows the latest rejections of the API key, with their reasons. */
function RecentRejections() {
  const query = { onlyRejected: true, pageSize: shownMax }
  const { data, error, reload } = useQuery<readonly RequestsGetDataItem[]>('/v2/requests/get', query)
  useInterval(refreshMs, reload)
  return (
    <section class="card dense" aria-label="Recent rejections">
      <h2>Recent rejections</h2>
      <ErrorNotice error={error} />
      {data?.length === 0 && (
        <EmptyNotice>
          The server has not rejected any call or websocket of this API key since its start.
        </EmptyNotice>
      )}
      {data !== null && data.length > 0 && (
        <Table caption="The latest rejections" items={data} keyOf={({ id }) => id} columns={requestColumns} />
      )}
      <p>
        <a href={href('activity', 'requests', 'log')}>All requests and rejections</a>
      </p>
    </section>
  )
}

/**
 * Shows the first screen. It checks the API key before it shows metrics and readiness, because `/metrics` and
 * `/readyz` answer without a key.
 */
export default function OverviewPage(_props: PageProps) {
  const { credentials } = useApi()
  const check = useAsync(() => verifyCredentials(credentials), '')
  const { error, loading } = check
  useInterval(60_000, check.reload)
  const isRejected = error?.status === 'UNAUTHENTICATED'
  return (
    <>
      <h1>Overview</h1>
      {isRejected && <WrongKey />}
      {!isRejected && !loading && <Figures />}
    </>
  )
}

const WrongKey = () => (
  <Notice kind="bad">
    The server rejects the API key or the auth token of this session. Sign out, and sign in with the link that{' '}
    <code>weft console</code> prints, or with <code>credentials.json</code> in the data directory.
  </Notice>
)

/** Shows the link to the playground, and the state of the server. */
function Figures() {
  const { points, error, unready, isPastHidden } = useMetrics()
  const { hasApiKey } = useApi()
  return (
    <>
      <TryIt />
      <ServerStatus unready={unready} point={points.at(-1)} />
      <MetricsProblem error={error} />
      {hasApiKey && <LiveLists />}
      {hasApiKey && <RecentRejections />}
      <Charts points={points} isPastHidden={isPastHidden} />
    </>
  )
}

const periods = [
  ['hour', 'Last hour'],
  ['day', 'Last 24 hours'],
] as const
type Period = (typeof periods)[number][0]
const periodMs: Readonly<Record<Period, number>> = { hour: hourMs, day: dayMs }

interface ChartGridProps {
  readonly points: readonly MetricPoint[]
  readonly isPastHidden: boolean
}

function Charts({ points, isPastHidden }: ChartGridProps) {
  const [period = 'hour', setPeriod] = useSessionValue<Period>('period', ['hour', 'day'])
  const start = (points.at(-1)?.at ?? 0) - periodMs[period]
  const shown = points.filter(({ at }) => at > start)
  return (
    <>
      <div class="row chooser">
        <Select<Period> label="Charts" value={period} options={periods} onChange={setPeriod} />
      </div>
      {isPastHidden && (
        <p class="hint">
          The charts start when this page opens. The server has several API keys, and shows their history only
          with a metrics token: set <code>WEFT_METRICS_TOKEN</code>.
        </p>
      )}
      <div class="cards charts">
        {chartSpecs.map((spec) => (
          <Chart key={spec.title} spec={spec} points={shown} />
        ))}
      </div>
    </>
  )
}

const TryIt = () => (
  <section class="card try row between">
    <div>
      <h2>Try it: open a shared editor</h2>
      <p>
        Two windows, one document. Each edit appears in the other window at once, and REST can edit the
        document at the same time.
      </p>
    </div>
    <Button kind="primary" onClick={openPlayground}>
      Open the playground
    </Button>
  </section>
)
