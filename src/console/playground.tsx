import { render } from 'preact'
import { Playground } from './playground/app.tsx'

const place = document.getElementById('app')
if (place !== null) render(<Playground />, place)
