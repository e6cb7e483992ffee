import { useState } from 'preact/hooks'
import { useApi, useReading } from '../calls.ts'
import { Button, Choice } from '../ui/controls.tsx'
import { Problem } from '../ui/notice.tsx'
import { compare, now } from './comparison.ts'
import { Difference } from './difference.tsx'
import type { EditorAddress } from './live/scene.ts'
import { Opened } from './opened.tsx'
import { nameOf, type Version } from './version.ts'

interface CompareProps {
  readonly address: EditorAddress
  readonly roots: readonly string[]
  readonly version: Version
  readonly versions: readonly Version[]
  readonly onClose: () => void
}

/** What has changed from a version to the present content, or to another version. */
export function Compare({ address, roots, version, versions, onClose }: CompareProps) {
  const api = useApi()
  const [to, setTo] = useState(now)
  const [root = null, setRoot] = useState(roots[0])
  const [count, setCount] = useState(0)
  const { data, error, loading } = useReading(
    () => compare(api, address, root, [version.versionId, to]),
    JSON.stringify([root, to, count]),
  )
  const others = versions.filter(({ versionId }) => versionId !== version.versionId)
  const states = [
    [now, 'the present content'],
    ...others.map((each) => [each.versionId, nameOf(each)] as const),
  ] as const
  return (
    <Opened label="Comparison">
      <h3>From {nameOf(version)}</h3>
      <div class="row">
        <Choice label="To" value={to} options={states} onChange={setTo} />
        {roots.length > 1 && (
          <Choice
            label="Root"
            value={root ?? ''}
            options={roots.map((name) => [name, name] as const)}
            onChange={setRoot}
          />
        )}
        <Button onClick={() => setCount(count + 1)}>Compare again</Button>
        <Button onClick={onClose}>Close</Button>
      </div>
      <Problem error={error} />
      {loading && <p class="hint">Reading…</p>}
      {data?.isOfFormatting && data.parts.length > 1 && <p>The text is the same; its formatting differs:</p>}
      {data !== null && error === null && <Difference parts={data.parts} />}
    </Opened>
  )
}
