// Paper is light, also in dark mode: browsers print no backgrounds.
const page = document.documentElement;
let theme;
matchMedia("print").addEventListener("change", ({ matches }) => {
  if (matches) {
    theme = page.dataset.theme;
    page.dataset.theme = "light";
  } else {
    page.dataset.theme = theme;
  }
});
