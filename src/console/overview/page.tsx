import { openPlayground } from '../playground/opening.ts'
import type { PageProps } from '../route.ts'
import { Button } from '../ui/controls.tsx'
import { Chart } from './chart.tsx'
import { charts } from './shown.ts'
import { Server, Trouble } from './state.tsx'
import { useWatched } from './watching.ts'

/** The first screen: a door to the playground, and how the server is. */
export default function Page(_props: PageProps) {
  const { points, error, unready, ...asked } = useWatched()
  return (
    <>
      <h1>Overview</h1>
      <TryIt />
      <Server unready={unready} point={points.at(-1)} />
      <Trouble error={error} {...asked} />
      <div class="cards charts">
        {charts.map((spec) => (
          <Chart key={spec.title} spec={spec} points={points} />
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
        Two windows, one document. What is typed in one is in the other at once, and REST can edit it
        meanwhile.
      </p>
    </div>
    <Button kind="primary" onClick={openPlayground}>
      Open the playground
    </Button>
  </section>
)
