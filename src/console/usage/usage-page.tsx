import { useState } from 'preact/hooks'
import type { UsageRow } from '../../usage/usage-csv.ts'
import { useAction, useApi, usePagedQuery, useQuery } from '../api/hooks.ts'
import { NeedsWorkspace } from '../auth/needs-workspace.tsx'
import type { PageProps } from '../routing/route.ts'
import { Button, Select } from '../ui/controls.tsx'
import { formatBytes } from '../ui/format.ts'
import { ActionOutcome, ErrorNotice } from '../ui/notice.tsx'
import { saveFile } from '../ui/save-file.ts'
import { PagedTable } from '../ui/table.tsx'
import { UsageBars } from './usage-bars.tsx'
import { barLabel, barStarts, granularityOf, type UsagePeriod, usagePeriods } from './usage-period.ts'

const path = '/v2/workspace/usage/get'
/** Maximum number of pages in a downloaded file. A page has at most 1,000 items. */
const downloadPagesMax = 100

const figures = [
  ['connectionsPeak', 'Peak of connections'],
  ['connectionMinutes', 'Connection minutes'],
  ['connectionsOpened', 'Connections opened'],
  ['updates', 'Updates'],
  ['calls', 'Calls'],
  ['bytesSent', 'Bytes sent'],
  ['bytesStored', 'Bytes stored'],
] as const
type Figure = (typeof figures)[number][0]

const subjects = [
  ['workspace', 'Workspace'],
  ['organization', 'Each organization'],
] as const
type Subject = (typeof subjects)[number][0]

/** Shows the usage of the workspace and of its organizations. */
export default function UsagePage(_props: PageProps) {
  return (
    <>
      <h1>Usage</h1>
      <NeedsWorkspace>
        <Usage />
      </NeedsWorkspace>
    </>
  )
}

const formatCount = (value: number): string =>
  value.toLocaleString(undefined, { maximumFractionDigits: value < 10 ? 1 : 0 })
const formatFigure = (figure: Figure, value: number): string =>
  figure.startsWith('bytes') ? formatBytes(value) : formatCount(value)

function Usage() {
  const [period, setPeriod] = useState<UsagePeriod>('day')
  const [figure, setFigure] = useState<Figure>('connectionsPeak')
  const [by, setBy] = useState<Subject>('workspace')
  // The page keeps the time of its start, so that a new render does not read the usage again.
  const [now] = useState(() => Date.now())
  const starts = barStarts(period, now)
  const query = { from: starts[0], granularity: granularityOf[period] }
  const { data, error } = useQuery<readonly UsageRow[]>(path, query)
  const bars = starts.map((start) => ({
    label: barLabel(period, start),
    value: data?.find((item) => item.start === start)?.[figure] ?? 0,
  }))
  const title = figures.find(([name]) => name === figure)?.[1] ?? ''
  return (
    <section class="card spaced" aria-label="Usage">
      <div class="row chooser">
        <Select<UsagePeriod> label="Time" value={period} options={usagePeriods} onChange={setPeriod} />
        <Select<Figure> label="Figure" value={figure} options={figures} onChange={setFigure} />
      </div>
      <ErrorNotice error={error} />
      {data !== null && (
        <UsageBars title={title} bars={bars} format={(value) => formatFigure(figure, value)} />
      )}
      <div class="row chooser">
        <Select<Subject> label="Table of" value={by} options={subjects} onChange={setBy} />
        <Download query={{ ...query, by }} name={`usage-${by}-${period}`} />
      </div>
      <UsageTable period={period} query={{ ...query, by }} />
      <p class="hint">
        Hours, days and months are in UTC. Times without usage are left out of the table. The counts of other
        nodes are at most a minute old.
      </p>
    </section>
  )
}

function UsageTable({ period, query }: { readonly period: UsagePeriod; readonly query: object }) {
  const listing = usePagedQuery<UsageRow>(path, query, 100)
  const isByOrganization = listing.items.some(({ organizationId }) => organizationId !== undefined)
  return (
    <PagedTable
      caption="Usage by time"
      listing={listing}
      keyOf={({ start, apiKey, organizationId }) => JSON.stringify([organizationId, apiKey, start])}
      empty="There was no usage in this time."
      columns={[
        ...(isByOrganization
          ? [{ title: 'Organization', cell: (item: UsageRow) => <code>{item.organizationId}</code> }]
          : []),
        { title: 'Time (UTC)', cell: ({ start }) => barLabel(period, start) },
        ...figures.map(([name, title]) => ({
          title,
          numeric: true,
          cell: (item: UsageRow) => (item[name] === undefined ? '–' : formatFigure(name, item[name])),
        })),
      ]}
    />
  )
}

function Download({ query, name }: { readonly query: object; readonly name: string }) {
  const api = useApi()
  const download = useAction(async () => {
    const lines: string[] = []
    let pages = 0
    let pageToken: string | undefined
    do {
      const page = await api.page<readonly string[]>('/v2/workspace/usage/export', {
        ...query,
        ...(pageToken !== undefined && { pageToken }),
      })
      for (const line of page.data) lines.push(line)
      pages += 1
      pageToken = page.pageToken
    } while (pageToken !== undefined && pages < downloadPagesMax)
    saveFile(`${name}.csv`, 'text/csv', lines.map((line) => `${line}\r\n`).join(''))
    return pageToken === undefined ? undefined : `The file has the first ${lines.length - 1} items.`
  })
  return (
    <>
      <Button busy={download.busy} onClick={() => void download.run()}>
        Download as CSV
      </Button>
      <ActionOutcome {...download} />
    </>
  )
}
