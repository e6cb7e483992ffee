import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { SharedRoot } from '../../../core/content/yjs/root-kind.ts'
import { Button } from '../../ui/controls.tsx'
import { useLiveView } from './live-view.ts'
import type { Caret, RunAttributes, TextRun } from './text-runs.ts'
import { runsOf } from './text-runs.ts'

/** Maximum number of units that are shown at first. */
const pageUnits = 20_000

interface TextProps {
  readonly type: SharedRoot
  /** Renders an embed. The embed can be any value. */
  readonly embed: (value: unknown) => ComponentChildren
}

/** Shows a text with its formatting, embeds and cursors. */
export function TextView({ type, embed }: TextProps) {
  const { carets, freshFrom } = useLiveView()
  const [limit, setLimit] = useState(pageUnits)
  const { runs, rest } = runsOf(type, { limit, freshFrom, carets: carets.get(type) ?? [] })
  return (
    <>
      {runs.map((run, index) => (
        <Part key={index} run={run} embed={embed} />
      ))}
      {rest > 0 && (
        <span class="more">
          <Button onClick={() => setLimit(limit + pageUnits)}>
            Show more ({rest.toLocaleString()} characters)
          </Button>
        </span>
      )}
    </>
  )
}

function Part({ run, embed }: Pick<TextProps, 'embed'> & { readonly run: TextRun }) {
  if (run.kind === 'caret') return <CaretMark caret={run.caret} />
  if (run.kind === 'embed') return embed(run.value)
  const { text, attributes, isFresh } = run
  const style = classesOf(attributes, isFresh)
  if (style === '') return text
  return (
    <span class={style} title={titleOf(attributes)}>
      {text}
    </span>
  )
}

/** CSS classes of common formats, by the names that editor libraries use for the formats. */
const formats: ReadonlyMap<string, string> = new Map([
  ['bold', 'bold'],
  ['strong', 'bold'],
  ['italic', 'italic'],
  ['em', 'italic'],
  ['underline', 'underline'],
  ['strike', 'strike'],
  ['strikethrough', 'strike'],
  ['code', 'code-mark'],
  ['link', 'link-mark'],
])

/** Returns the CSS classes of a run. An unknown format gets a general class. */
function classesOf(attributes: RunAttributes, isFresh: boolean): string {
  const names = Object.keys(attributes).map((name) => formats.get(name) ?? 'other-mark')
  return [...(isFresh ? ['fresh'] : []), ...new Set(names)].join(' ')
}

const titleMax = 500

function titleOf(attributes: RunAttributes): string | undefined {
  const labels = Object.entries(attributes).map(([name, value]) =>
    value === true ? name : `${name}: ${JSON.stringify(value)}`,
  )
  return labels.length === 0 ? undefined : labels.join(', ').slice(0, titleMax)
}

const CaretMark = ({ caret: { name, color } }: { readonly caret: Caret }) => (
  <span class="caret" style={color === null ? {} : { borderColor: color }}>
    <span class="caret-name" style={color === null ? {} : { borderColor: color }}>
      <span class="unseen">cursor of </span>
      {name}
    </span>
  </span>
)
