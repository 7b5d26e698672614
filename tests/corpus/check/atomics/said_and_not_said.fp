# Whether two updates are the same is not known if one of them does not say.
# EXPECT: race RAW 5 -> 6
kernel @said_and_not_said waves=4 {
  shared %a : 64
  atomic %a
  atomic %a update=or
}
