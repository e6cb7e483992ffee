import { render } from 'preact'
import { Playground } from './playground/app.tsx'

const place = document.getElementById('app')
// Until now it says what to do where this script never runs.
place?.replaceChildren()
if (place !== null) render(<Playground />, place)
// A link that is opened in a window of the playground changes its address only: who comes in is asked anew.
addEventListener('hashchange', () => location.reload())
