// Light, dark, or as the system says: remembered on this machine.

const kNames = ['auto', 'light', 'dark'];

function kept() {
  try {
    return kNames.includes(localStorage.theme) ? localStorage.theme : 'auto';
  } catch {
    return 'auto';  // a browser may keep nothing
  }
}

function apply(name) {
  if (name === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
}

export function startTheme(button) {
  let name = kept();
  const show = () => {
    apply(name);
    button.textContent = `Theme: ${name}`;
  };
  button.addEventListener('click', () => {
    name = kNames[(kNames.indexOf(name) + 1) % kNames.length];
    try {
      localStorage.theme = name;
    } catch {
      // It holds until the page is closed.
    }
    show();
  });
  show();
}
