import { useState } from 'preact/hooks'
import { useInterval } from '../../api/hooks.ts'
import { Button, Select } from '../../ui/controls.tsx'
import { type AuthorId, type AuthorStyle, originInWords } from '../authorship/authors.ts'
import type { Moments } from './moments.ts'

/** Time in ms between two moments at the speed 1. */
const stepMs = 600

const speeds = [
  ['0.5', '½×'],
  ['1', '1×'],
  ['2', '2×'],
  ['5', '5×'],
  ['20', '20×'],
] as const

interface PlaybackProps {
  readonly moments: Moments
  readonly styles: ReadonlyMap<AuthorId, AuthorStyle>
  /** The shown moment; null: the present, which follows edits. */
  readonly moment: number | null
  readonly onMoment: (moment: number | null) => void
}

/** Plays the document from its first change, and lets the user select a moment. */
export function Playback({ moments, styles, moment, onMoment }: PlaybackProps) {
  const [isPlaying, setIsPlaying] = useState(false)
  const [speed, setSpeed] = useState<(typeof speeds)[number][0]>('1')
  const { present } = moments
  const show = (next: number) => {
    onMoment(next >= present ? null : next)
    if (next >= present) setIsPlaying(false)
  }
  useInterval(isPlaying ? stepMs / Number(speed) : null, () => show((moment ?? 0) + 1))
  const play = () => {
    if (!isPlaying && moment === null) onMoment(0)
    setIsPlaying(!isPlaying)
  }
  return (
    <section class="card playback" aria-label="Playback">
      <Button kind="primary" disabled={present === 0} onClick={play}>
        {isPlaying ? 'Pause' : 'Play'}
      </Button>
      <MomentSlider label="Moment" {...{ moments, styles, moment }} onMoment={show} />
      <Select label="Speed" value={speed} options={speeds} onChange={setSpeed} />
    </section>
  )
}

/** Maximum number of colored marks above a slider. */
const marksMax = 150

interface SliderProps extends Omit<PlaybackProps, 'onMoment'> {
  readonly label: string
  readonly onMoment: (moment: number) => void
}

/** Shows the authors of all changes in the order of time, and selects a moment. The arrow keys move by one change. */
export function MomentSlider({ label, moments, styles, moment, onMoment }: SliderProps) {
  const { present, steps } = moments
  const count = Math.min(present, marksMax)
  const position = Math.min(moment ?? present, present)
  const described = describeMoment(moments, position)
  return (
    <div class="moment">
      <div class="ticks" aria-hidden="true">
        {Array.from({ length: count }, (_, index) => {
          const at = Math.floor((index * present) / count)
          return (
            <span
              key={index}
              class={`tick author${at < position ? '' : ' later'}`}
              style={styles.get(steps[at]?.userId ?? null)}
            />
          )
        })}
      </div>
      <input
        type="range"
        aria-label={label}
        min={0}
        max={present}
        value={position}
        aria-valuetext={described}
        onInput={({ currentTarget }) => onMoment(Number(currentTarget.value))}
      />
      <span class="hint">{described}</span>
    </div>
  )
}

function describeMoment({ present, steps }: Moments, moment: number): string {
  const step = steps[moment - 1]
  if (step === undefined) return present === 0 ? 'No known changes' : 'Before the first change'
  const words = `change ${moment.toLocaleString()} of ${present.toLocaleString()}: ${originInWords(step)}`
  return moment === present ? `Now, after ${words}` : `After ${words}`
}
