import { Button } from '../ui/controls.tsx'

interface IteratorPagerProps {
  readonly page: {
    readonly iterator: string | null
    readonly prevIterator: string | null
    readonly done: boolean
  }
  readonly onPage: (iterator: string | null) => void
}

/** Shows buttons for the previous and the next page of a listing that the API reads with iterators. */
export const IteratorPager = ({ page: { iterator, prevIterator, done }, onPage }: IteratorPagerProps) =>
  done && prevIterator === null ? null : (
    <p class="row">
      <Button disabled={prevIterator === null} onClick={() => onPage(prevIterator)}>
        Previous page
      </Button>
      <Button disabled={done} onClick={() => onPage(iterator)}>
        Next page
      </Button>
    </p>
  )
