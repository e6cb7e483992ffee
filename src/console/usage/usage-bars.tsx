/** A bar of a chart. */
export interface UsageBar {
  readonly label: string
  readonly value: number
}

interface BarsProps {
  readonly title: string
  readonly bars: readonly UsageBar[]
  readonly format: (value: number) => string
}

const height = 120
const barWidth = 10

/** Shows values as bars. The name of the image describes them in words. */
export function UsageBars({ title, bars, format }: BarsProps) {
  const most = Math.max(0, ...bars.map(({ value }) => value))
  const [first, last] = [bars[0]?.label ?? '', bars.at(-1)?.label ?? '']
  return (
    <>
      <svg
        class="usage-bars"
        role="img"
        aria-label={`${title} from ${first} to ${last} (UTC). Now ${format(bars.at(-1)?.value ?? 0)}, at most ${format(most)}.`}
        viewBox={`0 0 ${bars.length * barWidth} ${height}`}
        preserveAspectRatio="none"
      >
        {bars.map(({ label, value }, index) => {
          const shown = most === 0 ? 0 : (value / most) * (height - 2)
          return (
            <rect
              key={label}
              x={index * barWidth + 1}
              y={height - Math.max(1, shown)}
              width={barWidth - 2}
              height={Math.max(1, shown)}
            >
              <title>{`${label}: ${format(value)}`}</title>
            </rect>
          )
        })}
      </svg>
      <p class="usage-scale">
        <span>{first}</span>
        <span>at most {format(most)}</span>
        <span>{last}</span>
      </p>
    </>
  )
}
