"""What `syncd check` knows of good content: rules over the files of one space, pure and in linear time."""
